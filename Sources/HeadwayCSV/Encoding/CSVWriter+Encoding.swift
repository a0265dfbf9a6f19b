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
  /// If you did not specify columns, they are the keys of the first value in the order of encoding, which is usually
  /// the order of its `CodingKeys`. This includes the keys of properties that are nil. A key names its column. A column
  /// without a key and a property that is nil produce an empty field. A property whose type has
  /// ``CSVFieldConvertible/csvField`` is written that way. Any other type encodes itself as a single value. A structure
  /// inside the structure can't be encoded, because a field contains one value. The elements of an array are written as
  /// fields in order.
  ///
  /// - Parameter value: The value to write.
  /// - Throws: ``CSVWriterError`` with the code `noSuchColumn`, `raggedRow`, `invalidValue` or `unsupportedType`, or an
  ///   error about the file. An error that the type itself throws is stored in ``CSVWriterError/underlyingError``.
  /// - Complexity: O(*n*) in the length of the fields and the number of columns.
  public func encode<Value: Encodable>(_ value: Value) throws(CSVWriterError) {
    let row = EncodedRow(columns: columns, path: path, rowNumber: rowCount + 1)
    do { try row.encode(value) } catch let error as CSVWriterError { throw error } catch {
      throw row.error(error, encoding: Value.self, columnName: nil)
    }
    // The names are those that this value encoded. If it has no keys, there are none.
    if columns == nil, rowCount == 0, !row.names.isEmpty { begin(row.names) }
    try write(row.fields)
  }

  /// Writes each of several values as a row.
  ///
  /// - Parameter values: The values to write, one per row.
  /// - Throws: The error that ``encode(_:)`` throws for the first value that can't be written.
  /// - Complexity: O(*n*) in the length of the fields.
  public func encode<Value: Encodable>(contentsOf values: some Sequence<Value>) throws(CSVWriterError) {
    for value in values { try encode(value) }
  }
}
