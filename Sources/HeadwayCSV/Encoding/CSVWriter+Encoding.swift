extension CSVWriter {
  /// Writes a value as a row, property by property.
  ///
  /// ```swift
  /// struct Station: Encodable {
  ///   var id: Int
  ///   var name: String
  ///   var height: Double?
  /// }
  ///
  /// let writer = CSVWriter()
  /// try writer.encode(Station(id: 1, name: "Zoo", height: nil))
  /// print(writer.text)
  /// ```
  ///
  /// Where the columns were not given, they are the keys of the first value, even those of properties that are nil, in
  /// the order in which it encodes them: mostly that of its `CodingKeys`. Keys are columns by their names; a column
  /// without a key, and a property that is nil, is an empty field. A property is written as
  /// ``CSVFieldConvertible/csvField`` if its type has that, and otherwise as the single value that the type encodes. A
  /// structure inside the structure is an error, since a field holds one value. The elements of an array are fields by
  /// position.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``CSVWriterError`` with the code `noSuchColumn`, `raggedRow`, `invalidValue` or `unsupportedType`, or
  ///   one about the file; what the type itself throws is in ``CSVWriterError/underlyingError``.
  /// - Complexity: O(*n*) in the length of the fields and the number of columns.
  public func encode<Value: Encodable>(_ value: Value) throws(CSVWriterError) {
    let row = EncodedRow(columns: columns, path: path, rowNumber: rowCount + 1)
    do { try row.encode(value) } catch let error as CSVWriterError { throw error } catch {
      throw CSVWriterError(
        .invalidValue, path: path, rowNumber: rowCount + 1,
        message: "A \(Value.self) can't be encoded: \(error)", underlyingError: error)
    }
    // With names that came by this value, or without any if it has no keys.
    if columns == nil, rowCount == 0, !row.names.isEmpty { begin(row.names) }
    try write(row.fields)
  }

  /// Writes each of several values as a row.
  ///
  /// - Parameter values: The values.
  /// - Throws: What ``encode(_:)`` throws, at the first value that can't be written.
  /// - Complexity: O(*n*) in the length of the fields.
  public func encode<Value: Encodable>(contentsOf values: some Sequence<Value>) throws(CSVWriterError) {
    for value in values { try encode(value) }
  }
}
