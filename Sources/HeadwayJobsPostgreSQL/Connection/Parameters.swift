#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// A value in the binary format of PostgreSQL.
protocol BinaryValue {
  /// The numbers of the type, and of the type of arrays, in the server's catalog, which never change.
  static var types: (element: UInt32, array: UInt32) { get }

  func append(to bytes: inout [UInt8])
}

extension Int64: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { (20, 1016) }
  func append(to bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
}

extension Int32: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { (23, 1007) }
  func append(to bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
}

extension Int: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { Int64.types }
  func append(to bytes: inout [UInt8]) { bytes.append(bigEndian: Int64(self)) }
}

extension Bool: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { (16, 1000) }
  func append(to bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
}

extension Double: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { (701, 1022) }
  func append(to bytes: inout [UInt8]) { bytes.append(bigEndian: bitPattern) }
}

extension String: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { (25, 1009) }
  func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
}

extension [UInt8]: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { (17, 1001) }
  func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

extension StoreTime: BinaryValue {
  static var types: (element: UInt32, array: UInt32) { (1184, 1185) }

  /// The beginning of 2000, where PostgreSQL's times start.
  private static let epoch: Int64 = 946_684_800_000_000
  /// The range of times that PostgreSQL can store: from 4714 BC to the year 294276.
  ///
  /// Others become infinite.
  private static let finite = (-211_813_488_000_000_000 as Int64)..<9_223_371_331_200_000_000

  func append(to bytes: inout [UInt8]) {
    let (value, overflow) = microseconds.subtractingReportingOverflow(Self.epoch)
    if !overflow, microseconds != .max, Self.finite.contains(value) { return bytes.append(bigEndian: value) }
    bytes.append(bigEndian: microseconds < 0 ? Int64.min : .max)
  }

  init(binary value: Int64) {
    let (sum, overflow) = value.addingReportingOverflow(Self.epoch)
    // Infinite times, and times in the last 30 years that PostgreSQL can store, become the first or the last time.
    self.init(microseconds: value == .min ? .min : overflow ? .max : sum)
  }
}

extension [UInt8] {
  mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

/// The values for the parameters of a statement.
struct Parameters: Sendable {
  /// The values, one after another.
  ///
  /// The first byte belongs to no value, so that even values without bytes have an address.
  private(set) var bytes: [UInt8] = [0]
  private(set) var types: [UInt32] = []
  /// The position of each value in ``bytes``; nil for null.
  private(set) var ranges: [Range<Int>?] = []
  /// 1 for the binary format, 0 for text.
  private(set) var formats: [Int32] = []

  var count: Int { types.count }

  mutating func add<Value: BinaryValue>(_ value: Value?) {
    let start = bytes.count
    value?.append(to: &bytes)
    append(type: Value.types.element, range: value == nil ? nil : start..<bytes.count, format: 1)
  }

  mutating func add<Value: BinaryValue>(array values: some Collection<Value?>) {
    var list = ValueList(of: Value.self)
    for value in values { list.append(value) }
    add(list)
  }

  mutating func add(_ list: ValueList) {
    let start = bytes.count
    bytes.append(bigEndian: Int32(list.count == 0 ? 0 : 1))
    bytes.append(bigEndian: Int32(list.hasNull ? 1 : 0))
    bytes.append(bigEndian: list.type)
    if list.count > 0 {
      bytes.append(bigEndian: list.count)
      bytes.append(bigEndian: 1 as Int32)
    }
    bytes += list.bytes
    append(type: list.arrayType, range: start..<bytes.count, format: 1)
  }

  /// Adds a value in text format, whose type the server infers.
  mutating func add(inferred text: String?) {
    let start = bytes.count
    // The text format ends with a null character.
    if let text { bytes += Array(text.utf8) + [0] }
    append(type: 0, range: text == nil ? nil : start..<bytes.count, format: 0)
  }

  private mutating func append(type: UInt32, range: Range<Int>?, format: Int32) {
    types.append(type)
    ranges.append(range)
    formats.append(format)
  }
}

/// The elements of an array, without its header.
struct ValueList: Sendable {
  let type: UInt32
  let arrayType: UInt32
  private(set) var bytes: [UInt8] = []
  private(set) var count: Int32 = 0
  private(set) var hasNull = false

  init<Value: BinaryValue>(of type: Value.Type) { (self.type, arrayType) = Value.types }

  mutating func append(_ value: (some BinaryValue)?) {
    let position = bytes.count
    bytes.append(bigEndian: -1 as Int32)
    count += 1
    guard let value else {
      hasNull = true
      return
    }
    value.append(to: &bytes)
    let length = Int32(bytes.count - position - 4)
    withUnsafeBytes(of: length.bigEndian) { for index in 0..<4 { bytes[position + index] = $0[index] } }
  }
}

/// A statement with the values of its parameters.
struct Statement: Sendable {
  var sql: String
  var parameters = Parameters()
  /// Whether the rows have the text format instead of the binary format.
  var isText = false
  /// Whether the statement is executed so often that the session keeps its plan.
  var isFrequent = false

  init(_ sql: String, isFrequent: Bool = false) { (self.sql, self.isFrequent) = (sql, isFrequent) }

  init(_ sql: String, isFrequent: Bool = false, _ values: any BinaryValue...) {
    self.init(sql, isFrequent: isFrequent)
    for value in values { add(any: value) }
  }

  /// Returns the statement for the tables of a schema.
  func translated(for schema: SchemaName) -> Statement {
    var statement = Statement(schema.sql(sql), isFrequent: isFrequent)
    statement.parameters = parameters
    return statement
  }

  mutating func add<Value: BinaryValue>(_ value: Value?) { parameters.add(value) }

  mutating func add<Value: BinaryValue>(array values: [Value]) { parameters.add(array: values.lazy.map { $0 }) }

  mutating func add<Value: BinaryValue>(array values: [Value?]) { parameters.add(array: values) }

  mutating func add(any value: any BinaryValue) {
    func open(_ value: some BinaryValue) { parameters.add(value) }
    open(value)
  }
}
#endif
