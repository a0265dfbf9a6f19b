public import HeadwayImport
public import Testing

extension TableSchema: CustomTestStringConvertible {
  /// The name only: a failing run must not print all columns.
  public var testDescription: String { name }
}
