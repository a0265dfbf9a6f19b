/// Decodes a value from a row.
struct RowDecoder: Decoder {
  let row: CSVRow
  let positions: KeyPositions

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedFields<Key>(row: row, positions: positions))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { FieldSequence(row: row) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    guard row.count == 1 else {
      throw CSVReaderError(
        .unsupportedType, path: row.batch.path, lineNumber: row.lineNumber, rowNumber: row.rowNumber,
        context: "A single value can't be decoded from a row of \(row.count) fields.")
    }
    return FieldDecoder(row: row, position: 0, name: row.header.names.first ?? "0")
  }
}

/// A key that is the name of a column or the position of a field.
struct FieldKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }

  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
