/// A column of a table: its name, its type, and the requirements for its values.
public struct ColumnSchema: Sendable, Hashable {
  /// The name, as spelled in the header of the file.
  public var name: String
  /// The type that values are stored with.
  public var type: ColumnType
  /// Whether a row is malformed if this field is empty.
  public var isRequired: Bool
  /// The column whose values this one repeats, if there is exactly one such column.
  public var reference: ColumnReference?

  /// Creates the description of a column.
  ///
  /// - Parameters:
  ///   - name: The name, as spelled in the header of the file.
  ///   - type: The type that values are stored with.
  ///   - isRequired: Whether a row is malformed if this field is empty.
  ///   - reference: The column whose values this one repeats.
  public init(name: String, type: ColumnType = .text, isRequired: Bool = false, reference: ColumnReference? = nil) {
    self.name = name
    self.type = type
    self.isRequired = isRequired
    self.reference = reference
  }
}
