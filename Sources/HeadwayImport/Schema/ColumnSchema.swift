/// A column of a table: its name, its type, and what must hold for its values.
public struct ColumnSchema: Sendable, Hashable {
  /// The name, as the header of the file spells it.
  public var name: String
  /// How values are stored.
  public var type: ColumnType
  /// Whether a row in which this field is empty is malformed.
  public var isRequired: Bool
  /// The column whose values this one repeats, if there is exactly one such column.
  public var reference: ColumnReference?

  /// Creates the description of a column.
  ///
  /// - Parameters:
  ///   - name: The name, as the header of the file spells it.
  ///   - type: How values are stored.
  ///   - isRequired: Whether a row in which this field is empty is malformed.
  ///   - reference: The column whose values this one repeats.
  public init(name: String, type: ColumnType = .text, isRequired: Bool = false, reference: ColumnReference? = nil) {
    self.name = name
    self.type = type
    self.isRequired = isRequired
    self.reference = reference
  }
}
