/// Reads the members of one JSON object without decoding them, strictly according to RFC 8259.
///
/// Foundation's decoders convert numbers, which would change `1.10` or `12345678901234567890`. An import keeps the text
/// of each value, so this scanner only finds the positions of values.
struct JSONScanner {
  /// The kind of a member's value.
  enum Kind {
    case null, `true`, `false`, number, string
    /// An object or an array.
    case nested
  }

  /// A member of the object: the positions of its name and its value, without quotes.
  struct Member {
    let name: Range<Int>
    let nameHasEscapes: Bool
    let value: Range<Int>
    let kind: Kind
    let valueHasEscapes: Bool
  }

  /// The position and the reason of a violation of the JSON syntax.
  struct Failure: Error, Equatable {
    let position: Int
    let reason: String
  }

  /// The reason for a failure that concerns the rest of the line.
  static let unclosedString = "a string that is never closed"
  /// The maximum nesting depth of objects and arrays, as in Foundation.
  private static let deepest = 512

  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Reads one object, which must be the whole text.
  ///
  /// - Parameter member: Called for each member, as the text orders them.
  /// - Throws: ``Failure``.
  /// - Complexity: O(*n*) in the number of bytes. No allocation.
  mutating func object(_ member: (Member) throws(Failure) -> Void) throws(Failure) {
    skipSpace()
    guard take("{") else { throw failure("not a JSON object") }
    skipSpace()
    if !take("}") {
      repeat {
        skipSpace()
        let (name, nameHasEscapes) = try string()
        skipSpace()
        guard take(":") else { throw failure("no colon after a name") }
        skipSpace()
        let start = position
        let (kind, hasEscapes) = try value(depth: 1)
        let end = position
        try member(
          Member(
            name: name, nameHasEscapes: nameHasEscapes, value: kind == .string ? start + 1..<end - 1 : start..<end,
            kind: kind, valueHasEscapes: hasEscapes))
        skipSpace()
      } while take(",")
      guard take("}") else { throw failure("neither a comma nor a brace after a value") }
    }
    skipSpace()
    guard position == bytes.count else { throw failure("text after the object") }
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(Failure) -> (kind: Kind, hasEscapes: Bool) {
    guard depth <= Self.deepest else { throw failure("values nested too deeply") }
    switch next {
    case UInt8(ascii: "\""): return (.string, try string().hasEscapes)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      try nested(depth: depth)
      return (.nested, false)
    case UInt8(ascii: "t"): return (try literal("true", .true), false)
    case UInt8(ascii: "f"): return (try literal("false", .false), false)
    case UInt8(ascii: "n"): return (try literal("null", .null), false)
    default:
      try number()
      return (.number, false)
    }
  }

  private mutating func nested(depth: Int) throws(Failure) {
    let isObject = take("{")
    if !isObject { position += 1 }
    let end: StaticString = isObject ? "}" : "]"
    skipSpace()
    if take(end) { return }
    repeat {
      skipSpace()
      if isObject {
        _ = try string()
        skipSpace()
        guard take(":") else { throw failure("no colon after a name") }
        skipSpace()
      }
      _ = try value(depth: depth + 1)
      skipSpace()
    } while take(",")
    guard take(end) else { throw failure("neither a comma nor the end after a value") }
  }

  private mutating func literal(_ text: StaticString, _ kind: Kind) throws(Failure) -> Kind {
    let length = text.utf8CodeUnitCount
    guard position + length <= bytes.count,
      bytes[position..<position + length].elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: length))
    else { throw failure("not a value") }
    position += length
    return kind
  }

  private mutating func number() throws(Failure) {
    let start = position
    func failNotValue() -> Failure {
      next == nil ? failure("not a value") : Failure(position: start, reason: "not a value")
    }
    _ = take("-")
    if !take("0") { guard takeDigits() else { throw failNotValue() } }
    if take(".") { guard takeDigits() else { throw failNotValue() } }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      guard takeDigits() else { throw failNotValue() }
    }
  }

  /// Reads a string and returns the position of its content.
  private mutating func string() throws(Failure) -> (content: Range<Int>, hasEscapes: Bool) {
    let opening = position
    guard take("\"") else { throw failure("not a string") }
    var hasEscapes = false
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return (opening + 1..<position - 1, hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try escape()
      case 0..<0x20: throw failure("a control character in a string")
      default: position += 1
      }
    }
    throw Failure(position: opening, reason: Self.unclosedString)
  }

  private mutating func escape() throws(Failure) {
    let start = position
    position += 1
    guard let byte = next else { return }
    position += 1
    switch byte {
    case UInt8(ascii: "u"):
      guard let unit = takeHexadecimal() else { throw Failure(position: start, reason: "not an escape") }
      if UTF16.isTrailSurrogate(unit) { throw Failure(position: start, reason: "half a surrogate pair") }
      guard UTF16.isLeadSurrogate(unit) else { return }
      guard take("\\"), take("u"), let trail = takeHexadecimal(), UTF16.isTrailSurrogate(trail) else {
        throw Failure(position: start, reason: "half a surrogate pair")
      }
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return
    default: throw Failure(position: start, reason: "not an escape")
    }
  }

  // MARK: Bytes

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func failure(_ reason: String) -> Failure {
    Failure(position: position, reason: next == nil ? "the object is incomplete" : reason)
  }

  private mutating func take(_ character: StaticString) -> Bool {
    guard next == character.utf8Start.pointee else { return false }
    position += 1
    return true
  }

  private mutating func takeDigits() -> Bool {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    return position > start
  }

  private mutating func takeHexadecimal() -> UInt16? {
    guard let unit = JSONText.hexadecimal(bytes, at: position) else { return nil }
    position += 4
    return unit
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }
}
