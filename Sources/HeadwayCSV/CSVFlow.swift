/// What a parser does after it has handed out a record.
public enum CSVFlow: Sendable, Hashable {
  /// Goes on with the next record.
  case `continue`

  /// Returns from `parse`. The record just handed out counts as consumed.
  case stop
}
