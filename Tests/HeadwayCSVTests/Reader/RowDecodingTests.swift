import Foundation
import HeadwayCSV
import Testing

@Suite(.hangLimit) struct RowDecodingTests {
  struct Station: Decodable, Equatable {
    enum Kind: String, Decodable { case bus, tram }

    var id: Int
    var name: String
    var height: Double?
    var isOpen: Bool
    var kind: Kind?
    var opened: String?
    var note: String?

    enum CodingKeys: String, CodingKey {
      case id, name, height, kind, opened, note
      case isOpen = "is_open"
    }
  }

  private let text = """
    name,id,height,is_open,kind,opened,more
    Zoo,1,2.5,true,tram,1882-02-07,x
    Alex,2,,0,,,y

    """

  private let stations = [
    Station(id: 1, name: "Zoo", height: 2.5, isOpen: true, kind: .tram, opened: "1882-02-07"),
    Station(id: 2, name: "Alex", isOpen: false),
  ]

  @Test("I3: each form of reading decodes rows by column names, and empty or missing fields are nil")
  func decoding() async throws {
    let reader = CSVReader(text: text)
    #expect(try reader.decodeAll(as: Station.self) == stations)
    var found: [Station] = []
    for try await station in reader.rows(as: Station.self) { found.append(station) }
    #expect(found == stations)
    found = []
    try reader.forEachRow(as: Station.self) { found.append($0) }
    #expect(found == stations)
  }

  @Test("I3: integers of each size, single values, arrays, and superclasses are decoded") func kinds() throws {
    struct Sizes: Decodable, Equatable {
      var a: Int8, b: Int16, c: Int32, d: Int64, e: UInt, f: UInt8, g: UInt16, h: UInt32, i: UInt64, j: Float, k: UUID
    }
    let identifier = UUID()
    let sizes = try CSVReader(text: "a,b,c,d,e,f,g,h,i,j,k\n1,2,3,4,5,6,7,8,9,1.5,\(identifier)\n").decodeAll(
      as:
        Sizes.self)
    #expect(sizes == [Sizes(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 1.5, k: identifier)])
    #expect(try CSVReader(text: "a,b\n1,2\n").decodeAll(as: [Int].self) == [[1, 2]])
    #expect(try CSVReader(text: "a,b\n1,\n").decodeAll(as: [Int?].self) == [[1, nil]])
    #expect(try CSVReader(text: "a,b\n1,2\n").decodeAll(as: [String: Int].self) == [["a": 1, "b": 2]])
    #expect(try CSVReader(text: "a\n1\n2\n").decodeAll(as: Int.self) == [1, 2])

    class Base: Decodable { var a: Int }
    final class Derived: Base {
      let b: Int
      enum CodingKeys: CodingKey { case b }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        b = try container.decode(Int.self, forKey: .b)
        try super.init(from: container.superDecoder())
      }
    }
    let derived = try CSVReader(text: "a,b\n1,2\n").decodeAll(as: Derived.self)
    #expect(derived.map { [$0.a, $0.b] } == [[1, 2]])
  }

  struct Day: Decodable, Equatable, CSVFieldConvertible {
    var year: Int

    init(year: Int) { self.year = year }

    init?(csvField bytes: UnsafeRawBufferPointer) {
      guard let year = Int(String(decoding: bytes.prefix(4), as: UTF8.self)) else { return nil }
      self.year = year
    }

    var csvField: String { "\(year)-01-01" }
  }

  @Test("I3: a type can provide its own decoding of a field") func convertibleTypes() throws {
    struct Opening: Decodable, Equatable {
      var day: Day
      var closing: Day?
    }
    let openings = try CSVReader(text: "day,closing\n1882-02-07,\n").decodeAll(as: Opening.self)
    #expect(openings == [Opening(day: Day(year: 1882), closing: nil)])
    let error = try readerError { _ = try CSVReader(text: "day\nsoon\n").decodeAll(as: Opening.self) }
    #expect(error.description == "text:2, row 1, column day: “soon” is no Day.")
  }

  @Test("I3: a field that can't be decoded causes an error with the position, the column and the field")
  func failures() throws {
    func failure<Value: Decodable>(_ text: String, _ type: Value.Type) throws -> CSVReaderError {
      try readerError { _ = try CSVReader(text: text, name: "t.csv").decodeAll(as: type) }
    }
    let missing = try failure("id,name\n1,Zoo\n", Station.self)
    #expect(missing.code == .noSuchColumn && missing.columnName == "is_open")
    let wrong = try failure("id,name,is_open,height\n1,Zoo,true,\n2,Alex,maybe,3\n", Station.self)
    #expect(wrong.description == "t.csv:3, row 2, column is_open: “maybe” is no Bool.")
    let optional = try failure("id,name,is_open,height\n1,Zoo,true,tall\n", Station.self)
    #expect(optional.description == "t.csv:2, row 1, column height: “tall” is no Double.")
    let kind = try failure("id,name,is_open,kind\n1,Zoo,true,ship\n", Station.self)
    #expect(kind.code == .invalidValue && kind.columnName == "kind" && kind.field == "ship")
    #expect(kind.underlyingError is DecodingError)
    #expect(kind.description.hasPrefix("t.csv:2, row 1, column kind: No Kind can be made of “ship”: "))
    #expect(kind.description.hasSuffix(".") && !kind.description.hasSuffix(".."))
  }

  @Test("I3: nested structures, arrays, and dates cause errors with an explanation") func nested() throws {
    struct Position: Decodable { var latitude: Double }
    struct Place: Decodable { var name: String, position: Position }
    struct Tagged: Decodable { var name: String, tags: [String] }
    struct Dated: Decodable { var name: String, day: Date }
    let message = "Position is decoded from several values, and a field holds one: make it CSVFieldConvertible."
    for text in ["name,latitude\nZoo,52\n", "name,position\nZoo,52\n"] {
      let error = try readerError { _ = try CSVReader(text: text).decodeAll(as: Place.self) }
      #expect(error.code == .unsupportedType)
      #expect(error.description == "text:2, row 1, column position: \(message)")
    }
    let array = try readerError { _ = try CSVReader(text: "name,tags\nZoo,a b\n").decodeAll(as: Tagged.self) }
    #expect(array.code == .unsupportedType && array.field == "a b")
    let date = try readerError { _ = try CSVReader(text: "name,day\nZoo,1882-02-07\n").decodeAll(as: Dated.self) }
    #expect(date.code == .invalidValue && date.columnName == "day" && date.field == "1882-02-07")
    #expect(date.context == "“1882-02-07” is no Double, which Date is decoded from.")
  }

  @Test("I3: an error that a type throws is wrapped, with the position") func ownErrors() throws {
    struct Refusal: Error {}
    struct Refusing: Decodable { init(from decoder: any Decoder) throws { throw Refusal() } }
    let error = try readerError { _ = try CSVReader(text: "a,b\n1,2\n").decodeAll(as: Refusing.self) }
    #expect(error.underlyingError is Refusal && error.lineNumber == 2)
  }

  @Test("I3: an iterator continues after a row that can't be decoded") func goingOn() async throws {
    var iterator = CSVReader(text: "a,b\n1,2\nx,2\n3,4\n").rows(as: [Int].self).makeAsyncIterator()
    #expect(try await iterator.next() == [1, 2])
    await #expect(throws: CSVReaderError.self) { try await iterator.next() }
    #expect(try await iterator.next() == [3, 4])
    #expect(try await iterator.next() == nil)
  }
}
