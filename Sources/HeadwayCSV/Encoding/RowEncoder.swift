/// Encodes a value as a row.
struct RowEncoder: Encoder {
  let row: EncodedRow

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedRow<Key>(row: row))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedRow(row: row) }

  func singleValueContainer() -> any SingleValueEncodingContainer { FieldEncoder(row: row, name: nil) }
}

/// The elements of a value, encoded as fields of a row in order.
struct UnkeyedRow: UnkeyedEncodingContainer {
  let row: EncodedRow

  var codingPath: [any CodingKey] { [] }
  var count: Int { row.appendedCount }

  func encodeNil() { row.appendText("") }

  func encode<Value: Encodable>(_ value: Value) throws { try FieldEncoder(row: row, name: nil).encode(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    FieldEncoder(row: row, name: nil).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    FieldEncoder(row: row, name: nil).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { FieldEncoder(row: row, name: nil) }
}
