/// The fields of a row by the names of their columns.
struct KeyedFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: CSVRow
  let positions: KeyPositions

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.header.names.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { position(of: key) != nil }

  func decodeNil(forKey key: Key) -> Bool { isAbsent(key) }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try FieldDecoder(row: row, position: position(of: key), name: key.stringValue).decode(type)
  }

  // The most frequent types, with one access to the field instead of three.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try valueIfPresent(key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try valueIfPresent(key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try valueIfPresent(key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try valueIfPresent(key) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }

  /// The properties of a superclass are in the same row.
  func superDecoder() -> any Decoder { RowDecoder(row: row, positions: positions) }

  func superDecoder(forKey key: Key) -> any Decoder {
    FieldDecoder(row: row, position: position(of: key), name: key.stringValue)
  }

  private func position(of key: Key) -> Int? {
    positions.position(of: key.stringValue) ?? key.intValue.flatMap { (0..<row.count).contains($0) ? $0 : nil }
  }

  private func isAbsent(_ key: Key) -> Bool {
    position(of: key).flatMap { row.unsafeBytes(at: $0) }?.isEmpty ?? true
  }

  // Inlined, so that these functions are specialized for the types above.

  @inline(__always)
  private func value<Value: CSVFieldConvertible>(_ key: Key) throws(CSVReaderError) -> Value {
    guard let position = position(of: key) else { throw row.noSuchColumn(key.stringValue) }
    return try row.value(at: position, key.stringValue)
  }

  @inline(__always)
  private func valueIfPresent<Value: CSVFieldConvertible>(_ key: Key) throws(CSVReaderError) -> Value? {
    guard let position = position(of: key), position < row.count else { return nil }
    return try row.value(at: position, key.stringValue)
  }
}
