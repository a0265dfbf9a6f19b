import Foundation
import HeadwayCSV
import Testing

@Suite(.hangLimit) struct RowEncodingTests {
  struct Station: Codable, Equatable {
    enum Kind: String, Codable { case bus, tram }

    var id: Int
    var name: String?
    var height: Double?
    var isOpen: Bool
    var kind: Kind?
    var identifier: UUID

    enum CodingKeys: String, CodingKey {
      case id, name, height, kind, identifier
      case isOpen = "is_open"
    }
  }

  private let stations = [
    Station(id: 1, name: nil, height: nil, isOpen: true, kind: nil, identifier: UUID()),
    Station(id: 2, name: "Zoo, \"Berlin\"", height: 0.1, isOpen: false, kind: .tram, identifier: UUID()),
  ]

  @Test("I3: the first value determines the columns, even if it contains nil")
  func encoding() throws {
    let writer = CSVWriter()
    try writer.encode(contentsOf: stations)
    #expect(writer.columns == ["id", "name", "height", "kind", "identifier", "is_open"])
    #expect(writer.text.hasPrefix("id,name,height,kind,identifier,is_open\n1,,,,"))
    #expect(try CSVReader(bytes: writer.bytes).decodeAll(as: Station.self) == stations)
  }

  @Test("I3: specified columns determine the order, and a column without a key is empty") func columns() throws {
    struct Pair: Encodable { var a = 1, b: Int8? = 2 }
    let writer = CSVWriter(columns: ["b", "c", "a"])
    try writer.encode(Pair())
    try writer.encode(Pair(a: 3, b: nil))
    #expect(writer.text == "b,c,a\n2,,1\n,,3\n")
    let other = CSVWriter(columns: ["a"])
    let error = try #require(throws: CSVWriterError.self) { try other.encode(Pair()) }
    #expect(error.code == .noSuchColumn && error.columnName == "b")
    #expect(error.description == "memory, row 1, column b: There is no such column; there are a.")
    #expect(other.text == "a\n")
  }

  @Test("I3: arrays, single values and superclasses are encoded as the fields of a row")
  func kinds() throws {
    let writer = CSVWriter()
    try writer.encode([1, 2])
    try writer.encode([3, nil])
    #expect(writer.text == "1,2\n3,\n")
    let single = CSVWriter(columns: ["n"])
    try single.encode(contentsOf: [7, 8])
    #expect(single.text == "n\n7\n8\n")
    class Base: Encodable { var a = 1 }
    final class Derived: Base {
      enum CodingKeys: CodingKey { case b }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try super.encode(to: container.superEncoder())
        try container.encode("x", forKey: .b)
      }
    }
    let derived = CSVWriter()
    try derived.encode(Derived())
    #expect(derived.text == "a,b\n1,x\n")
  }

  @Test("I3: nested structures and lists, even empty ones, cause errors with an explanation") func nested() throws {
    struct Position: Encodable { var latitude = 52.0 }
    struct Place: Encodable { var name = "Zoo", position = Position() }
    struct Tagged: Encodable { var name = "Zoo", tags: [String] }
    let writer = CSVWriter()
    let message = "Position encodes several values, and a field holds one: make it CSVFieldConvertible."
    let place = try #require(throws: CSVWriterError.self) { try writer.encode(Place()) }
    #expect(place.code == .unsupportedType)
    #expect(place.description == "memory, row 1, column position: \(message)")
    for tags in [[], ["a"]] {
      let tagged = try #require(throws: CSVWriterError.self) { try writer.encode(Tagged(tags: tags)) }
      #expect(tagged.code == .unsupportedType && tagged.columnName == "tags")
    }
    #expect(writer.text.isEmpty && writer.columns == nil)
  }

  @Test("I3: an error that a type throws is wrapped") func ownErrors() throws {
    struct Refusal: Error {}
    struct Refusing: Encodable { func encode(to encoder: any Encoder) throws { throw Refusal() } }
    let error = try #require(throws: CSVWriterError.self) { try CSVWriter().encode(Refusing()) }
    #expect(error.underlyingError is Refusal && error.code == .invalidValue)
    #expect(error.description == "memory, row 1: A Refusing can't be encoded: Refusal().")
    struct Place: Encodable { var name = "Zoo", state = Refusing() }
    let inner = try #require(throws: CSVWriterError.self) { try CSVWriter().encode(Place()) }
    #expect(inner.underlyingError is Refusal && inner.columnName == "state")
    #expect(inner.description == "memory, row 1, column state: A Refusing can't be encoded: Refusal().")
  }
}
