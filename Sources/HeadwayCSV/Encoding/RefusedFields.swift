/// Replaces the containers that a field can't contain: each use throws an error.
struct RefusedFields<Key: CodingKey>: KeyedEncodingContainerProtocol, UnkeyedEncodingContainer {
  let error: CSVWriterError

  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  func encodeNil(forKey key: Key) throws { throw error }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { throw error }
  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { throw error }
  func encodeNil() throws { throw error }
  func encode<Value: Encodable>(_ value: Value) throws { throw error }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(RefusedFields<Nested>(error: error))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { self }
  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(RefusedFields<Nested>(error: error))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { RefusingEncoder(error: error) }
}

/// An encoder that rejects everything.
private struct RefusingEncoder: Encoder {
  let error: CSVWriterError

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusedFields<Key>(error: error))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusedFields<FieldKey>(error: error) }
  func singleValueContainer() -> any SingleValueEncodingContainer { RefusedValue(error: error) }
}

/// A single-value container that rejects its value.
private struct RefusedValue: SingleValueEncodingContainer {
  let error: CSVWriterError

  var codingPath: [any CodingKey] { [] }

  func encodeNil() throws { throw error }
  func encode<Value: Encodable>(_ value: Value) throws { throw error }
}
