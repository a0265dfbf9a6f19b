extension CSVParser {
  /// How a parser proceeds after it has delivered a record.
  public enum IterationControl: Sendable, Hashable {
    /// Continues with the next record.
    case `continue`

    /// Returns from `parse`.
    ///
    /// The record that was just delivered counts as consumed.
    case stop
  }
}
