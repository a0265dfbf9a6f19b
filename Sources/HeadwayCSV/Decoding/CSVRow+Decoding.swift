extension CSVRow {
  /// Makes a value of the row, property by property.
  ///
  /// ```swift
  /// struct Station: Decodable {
  ///   var id: Int
  ///   var name: String
  ///   var height: Double?
  /// }
  ///
  /// try CSVReader(path: path).forEachRow { row in
  ///   print(try row.decode(Station.self).name)
  /// }
  /// ```
  ///
  /// The keys are the names of columns; `CodingKeys` says which where they differ. Other columns are left out. A
  /// property is read as ``value(_:as:)`` does it if its type is ``CSVFieldConvertible``, and otherwise as what the
  /// type decodes from a single value: `UUID` is read from text. An optional property is nil if its field is empty or
  /// its column is not there. A structure inside the structure is an error, since a field holds one value.
  ///
  /// An array is made of all fields by position: `row.decode([Double].self)`. A dictionary has the names of columns as
  /// keys.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The value.
  /// - Throws: ``CSVReaderError`` with the code `noSuchColumn`, `missingField`, `invalidValue`, `invalidUTF8` or
  ///   `unsupportedType`; what the type itself throws is in ``CSVReaderError/underlyingError``.
  /// - Complexity: O(*n*) in the length of the fields that the type asks for.
  public func decode<Value: Decodable>(_ type: Value.Type) throws(CSVReaderError) -> Value {
    try decode(type, KeyPositions(header))
  }

  /// Makes a value, as for the row before.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ positions: KeyPositions
  ) throws(CSVReaderError) -> Value {
    positions.restart()
    do { return try Value(from: RowDecoder(row: self, positions: positions)) } catch let error as CSVReaderError {
      throw error
    } catch {
      throw CSVReaderError(error, decoding: type, from: self, columnName: nil, field: nil)
    }
  }
}

extension CSVReaderError {
  /// What a type has thrown that was to be decoded.
  init(_ error: any Error, decoding type: Any.Type, from row: CSVRow, columnName: String?, field: String?) {
    let context: DecodingError.Context? =
      switch error as? DecodingError {
      case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
        .valueNotFound(_, let context):
        context
      default: nil
      }
    let reason = context.map(\.debugDescription) ?? "\(error)"
    self.init(
      .invalidValue, path: row.batch.path, lineNumber: row.lineNumber, rowNumber: row.number,
      columnName: columnName ?? context?.codingPath.last?.stringValue, field: field,
      message: "No \(CSVRow.name(of: type)) can be made of \(field.map { "“\($0)”" } ?? "it"): \(reason)",
      underlyingError: error)
  }
}
