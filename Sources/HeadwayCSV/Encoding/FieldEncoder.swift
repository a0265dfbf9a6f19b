/// Encodes a value as one field.
struct FieldEncoder: Encoder, SingleValueEncodingContainer {
  let row: EncodedRow
  /// The column's name; nil for the next column.
  let name: String?
  /// The type that encodes itself.
  var type: Any.Type = Any.self

  var codingPath: [any CodingKey] { name.map { [FieldKey(stringValue: $0)] } ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusedFields<Key>(error: row.refuse(name, self.type)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    RefusedFields<FieldKey>(error: row.refuse(name, self.type))
  }

  func encodeNil() throws {
    if let name { try row.setNil(name) } else { row.appendText("") }
  }

  func encode(_ value: Bool) throws { try set(value) }
  func encode(_ value: String) throws { try set(value) }
  func encode(_ value: Double) throws { try set(value) }
  func encode(_ value: Float) throws { try set(value) }
  func encode(_ value: Int) throws { try set(value) }
  func encode(_ value: Int8) throws { try set(value) }
  func encode(_ value: Int16) throws { try set(value) }
  func encode(_ value: Int32) throws { try set(value) }
  func encode(_ value: Int64) throws { try set(value) }
  func encode(_ value: UInt) throws { try set(value) }
  func encode(_ value: UInt8) throws { try set(value) }
  func encode(_ value: UInt16) throws { try set(value) }
  func encode(_ value: UInt32) throws { try set(value) }
  func encode(_ value: UInt64) throws { try set(value) }

  func encode<Value: Encodable>(_ value: Value) throws {
    if let convertible = value as? any CSVFieldConvertible {
      try set(convertible)
    } else {
      var encoder = self
      encoder.type = Value.self
      do { try value.encode(to: encoder) } catch let error as CSVWriterError { throw error } catch {
        throw row.error(error, encoding: Value.self, columnName: name)
      }
    }
  }

  private func set(_ value: some CSVFieldConvertible) throws(CSVWriterError) {
    if let name { try row.set(value, name) } else { try row.append(value) }
  }
}
