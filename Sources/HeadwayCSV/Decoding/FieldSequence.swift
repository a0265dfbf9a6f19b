/// The fields of a row, one after the other.
struct FieldSequence: UnkeyedDecodingContainer {
  let row: CSVRow
  private(set) var currentIndex = 0

  init(row: CSVRow) { self.row = row }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { row.count }
  var isAtEnd: Bool { currentIndex >= row.count }

  mutating func decodeNil() -> Bool {
    guard next.decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try next.decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next.container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next.unkeyedContainer() }

  mutating func superDecoder() -> any Decoder { next }

  private var next: FieldDecoder {
    let names = row.header.names
    return FieldDecoder(
      row: row, position: currentIndex,
      name: names.indices.contains(currentIndex) ? names[currentIndex] : "\(currentIndex)")
  }
}
