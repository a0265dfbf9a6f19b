/// Decodes a value from one field.
struct FieldDecoder: Decoder, SingleValueDecodingContainer {
  let row: CSVRow
  /// The position of the field.
  ///
  /// Nil if the file has no such column.
  let position: Int?
  /// The column's name.
  let name: String
  /// The type that decodes itself.
  var type: Any.Type = Any.self

  var codingPath: [any CodingKey] { [FieldKey(stringValue: name)] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw tooLarge
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw tooLarge }

  private var tooLarge: CSVReaderError {
    row.error(
      .unsupportedType, name, text,
      "\(CSVRow.name(of: type)) is decoded from several values, and a field holds one: make it CSVFieldConvertible.")
  }

  func decodeNil() -> Bool { position.flatMap { row.unsafeBytes(at: $0) }?.isEmpty ?? true }

  func decode(_ type: Bool.Type) throws -> Bool { try value() }
  func decode(_ type: String.Type) throws -> String { try value() }
  func decode(_ type: Double.Type) throws -> Double { try value() }
  func decode(_ type: Float.Type) throws -> Float { try value() }
  func decode(_ type: Int.Type) throws -> Int { try value() }
  func decode(_ type: Int8.Type) throws -> Int8 { try value() }
  func decode(_ type: Int16.Type) throws -> Int16 { try value() }
  func decode(_ type: Int32.Type) throws -> Int32 { try value() }
  func decode(_ type: Int64.Type) throws -> Int64 { try value() }
  func decode(_ type: UInt.Type) throws -> UInt { try value() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try value() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try value() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try value() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try value() }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let convertible = type as? any CSVFieldConvertible.Type, let value = try make(convertible) as? Value {
      return value
    }
    var decoder = self
    decoder.type = type
    do { return try Value(from: decoder) } catch let error as CSVReaderError {
      throw error.code == .invalidValue ? error.decoding(type) : error
    } catch {
      throw CSVReaderError(error, decoding: type, from: row, columnName: name, field: text)
    }
  }

  private func make<Convertible: CSVFieldConvertible>(
    _ type: Convertible.Type
  ) throws(CSVReaderError) -> Convertible {
    try value()
  }

  private func value<Value: CSVFieldConvertible>() throws(CSVReaderError) -> Value {
    guard let position else { throw row.noSuchColumn(name) }
    return try row.value(at: position, name)
  }

  /// The content of the field, for an error.
  private var text: String? {
    defer { withExtendedLifetime(row) {} }
    return position.flatMap { row.unsafeBytes(at: $0) }?.shortenedText
  }
}

extension CSVReaderError {
  /// Returns the same error for a type that was decoded from a value that the field does not contain.
  fileprivate func decoding(_ type: Any.Type) -> CSVReaderError {
    guard underlyingError == nil, !(type is any ExpressibleByNilLiteral.Type) else { return self }
    return CSVReaderError(
      code, path: path, lineNumber: lineNumber, rowNumber: rowNumber, columnName: columnName, field: field,
      context: "\(context.dropLast()), which \(type) is decoded from.")
  }
}
