extension CSVRow {
  /// Decodes a value from the row, property by property.
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
  /// The keys are column names; where they differ, `CodingKeys` maps them. Other columns are ignored. A property whose
  /// type is ``CSVFieldConvertible`` is read like in ``value(_:as:)``. Any other type decodes itself from a single
  /// value: for example, `UUID` is read from text. An optional property is nil if its field is empty or its column does
  /// not exist. A structure inside the structure can't be decoded, because a field contains one value.
  ///
  /// An array contains all fields in order: `row.decode([Double].self)`. A dictionary has the column names as keys.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The decoded row, as an instance of the type.
  /// - Throws: ``CSVReaderError`` with the code `noSuchColumn`, `missingField`, `invalidValue`, `invalidUTF8` or
  ///   `unsupportedType`. An error that the type itself throws is stored in ``CSVReaderError/underlyingError``.
  /// - Complexity: O(*n*) in the length of the fields that the type decodes.
  public func decode<Value: Decodable>(_ type: Value.Type) throws(CSVReaderError) -> Value {
    try decode(type, KeyPositions(header))
  }

  /// Decodes a value, with the positions that were found for the previous row.
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
  /// Creates an error from the error that a type threw while it was decoded.
  init(_ error: any Error, decoding type: Any.Type, from row: CSVRow, columnName: String?, field: String?) {
    let details: DecodingError.Context? =
      switch error as? DecodingError {
      case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
        .valueNotFound(_, let context):
        context
      default: nil
      }
    let reason = details.map(\.debugDescription) ?? "\(error)"
    self.init(
      .invalidValue, path: row.batch.path, lineNumber: row.lineNumber, rowNumber: row.rowNumber,
      columnName: columnName ?? details?.codingPath.last?.stringValue, field: field,
      context: "No \(CSVRow.name(of: type)) can be made of \(field.map { "“\($0)”" } ?? "it"): \(reason)".withFullStop,
      underlyingError: error)
  }
}
