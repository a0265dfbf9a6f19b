/// The member names of all objects in JSON Lines, ordered by first occurrence.
struct JSONLinesColumns {
  private(set) var names: [String] = []
  private var known: Set<String> = []
  /// The beginning of a line whose end has not been added.
  private var rest: [UInt8] = []
  private var isSkippingLine = false
  private var isFirstLine = true
  private let maxRecordLength: Int

  init(maxRecordLength: Int) { self.maxRecordLength = maxRecordLength }

  /// Adds the names in some bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that follow the bytes of the previous call.
  ///   - isFinal: Whether these are the last bytes.
  mutating func add(_ bytes: UnsafeRawBufferPointer, isFinal: Bool) {
    var start = 0
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      addLine(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
      start = end + 1
    }
    keep(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    if isFinal { addLine(UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
    if rest.count + bytes.count > maxRecordLength { (rest, isSkippingLine) = ([], true) }
    if !isSkippingLine { rest.append(contentsOf: bytes) }
  }

  /// Adds the names in a line, which begins with the bytes that were kept.
  private mutating func addLine(_ line: UnsafeRawBufferPointer) {
    defer { (rest, isSkippingLine, isFirstLine) = ([], false, false) }
    guard !isSkippingLine else { return }
    guard !rest.isEmpty else { return addNames(in: line) }
    rest.append(contentsOf: line)
    let whole = rest
    whole.withUnsafeBytes { addNames(in: $0) }
  }

  /// Adds the names of an object.
  ///
  /// A malformed line adds nothing.
  private mutating func addNames(in line: UnsafeRawBufferPointer) {
    let line = isFirstLine ? JSONLinesParser.withoutMark(line) : line
    var scanner = JSONScanner(line)
    var found: [String] = []
    do throws(JSONScanner.Failure) {
      try scanner.object { member throws(JSONScanner.Failure) in
        found.append(
          JSONText.string(UnsafeRawBufferPointer(rebasing: line[member.name]), hasEscapes: member.nameHasEscapes))
      }
    } catch { return }
    for name in found where known.insert(name).inserted { names.append(name) }
  }
}
