/// The properties of a value by their keys, as fields of a row.
struct KeyedRow<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let row: EncodedRow

  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { try row.setNil(key.stringValue) }

  func encode(_ value: Bool, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: String, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: Double, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: Float, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: Int, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: Int8, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: Int16, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: Int32, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: Int64, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: UInt, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: UInt8, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: UInt16, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: UInt32, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encode(_ value: UInt64, forKey key: Key) throws { try row.set(value, key.stringValue) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try FieldEncoder(row: row, name: key.stringValue).encode(value)
  }

  // Nil also produces a field, so that all rows have the same columns as the first row.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try row.set(value, key.stringValue) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try row.set(value, key.stringValue) }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    FieldEncoder(row: row, name: key.stringValue).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    FieldEncoder(row: row, name: key.stringValue).unkeyedContainer()
  }

  /// The properties of a superclass are in the same row.
  func superEncoder() -> any Encoder { RowEncoder(row: row) }

  func superEncoder(forKey key: Key) -> any Encoder { FieldEncoder(row: row, name: key.stringValue) }
}
