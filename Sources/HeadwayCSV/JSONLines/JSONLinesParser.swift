/// Reads JSON Lines, one object per line, as records.
///
/// Each member is a column.
///
/// Handles bytes like ``CSVParser``: bytes that a call does not consume must be passed first in the next call. Records
/// are delivered as ``CSVRecord``, with the line as the raw bytes. The names count as the first record, like the header
/// of a CSV file, so the first line with an object is record 2.
///
/// The field of a number, or of an object or array inside the object, is its text. The field of a string is its content
/// and counts as quoted. `true` is 1 and `false` is 0, as in SQLite's own JSON functions. `null` is an empty field
/// without quotes. If the line does not have the member, the field is also absent (``CSVRecord/isAbsent(at:)``).
///
/// A line is malformed if it is not a single JSON object, or if the object contains a member twice or a member that is
/// not a column.
struct JSONLinesParser: ~Copyable {
  private let maxRecordLength: Int
  /// The column names, by position.
  ///
  /// `positions` maps the names to the positions.
  let columns: [String]
  private let positions: [String: Int]

  private var slots: [JSONScanner.Member?]
  private var fields = FieldTable()
  private var contents = UnescapedFields()
  private var isSkippingLine = false
  /// The number of unconsumed bytes that are known to contain no line ending.
  private var searched = 0

  private(set) var lineNumber = 1
  private(set) var byteOffset = 0
  private(set) var recordCount = 1

  init(columns: [String], maxRecordLength: Int) {
    self.columns = columns
    self.maxRecordLength = maxRecordLength
    positions = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
    slots = Array(repeating: nil, count: columns.count)
    while fields.capacity < columns.count { fields.grow(keeping: 0) }
  }

  /// Delivers every complete record in some bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that have not been consumed, followed by more.
  ///   - isFinal: Whether the stream ends with these bytes.
  ///   - record: Receives each well-formed record.
  ///   - malformed: Receives each malformed record.
  /// - Returns: The number of consumed bytes.
  /// - Throws: The error that a closure throws.
  mutating func parse(
    _ bytes: UnsafeRawBufferPointer, isFinal: Bool,
    _ record: (borrowing CSVRecord) throws -> CSVParser.IterationControl,
    malformed: (borrowing CSVParser.MalformedRecord) throws -> CSVParser.IterationControl
  ) throws -> Int {
    var consumed = 0
    while consumed < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[consumed...])
      let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n"))
      guard let length = end ?? (isFinal ? rest.count : nil), length <= maxRecordLength else {
        guard isSkippingLine || rest.count > maxRecordLength else {
          searched = rest.count
          break
        }
        let flow = try passOverLongLine(rest, end: end, consumed: &consumed, malformed)
        if flow == .stop { break }
        continue
      }
      searched = 0
      let (number, offset) = (lineNumber, byteOffset)
      let passed = end == nil ? length : length + 1
      consumed += passed
      byteOffset += passed
      lineNumber += 1
      if isSkippingLine {
        isSkippingLine = false
        continue
      }
      let bytes = UnsafeRawBufferPointer(rebasing: rest[..<length])
      let text = Self.trimmed(number == 1 ? Self.withoutMark(bytes) : bytes)
      guard !text.isEmpty else { continue }
      recordCount += 1
      let flow: CSVParser.IterationControl
      if let failure = scan(text) {
        let isRest = failure.reason == JSONScanner.unclosedString
        let excerpt = isRest ? "" : String(decoding: text[failure.position...].prefix(32), as: UTF8.self)
        let error = CSVError(
          code: .invalidJSON, lineNumber: number, byteOffset: offset + failure.position, excerpt: excerpt,
          detail: failure.reason)
        flow = try malformed(
          CSVParser.MalformedRecord(
            error: error, lineNumber: number, recordNumber: recordCount, byteOffset: offset, rawBytes: text,
            isTruncated: false))
      } else {
        fillFields(from: text)
        flow = try record(
          CSVRecord(
            start: text.baseAddress.unsafelyUnwrapped, length: text.count, ends: fields.ends, count: columns.count,
            unescaped: contents.view, lineNumber: number, recordNumber: recordCount, byteOffset: offset,
            hasStrayQuotes: false))
      }
      if flow == .stop { break }
    }
    return consumed
  }

  /// Returns the first line of a file without a byte order mark.
  static func withoutMark(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let mark = FileContent.byteOrderMark
    return line.starts(with: mark) ? UnsafeRawBufferPointer(rebasing: line.dropFirst(mark.count)) : line
  }

  /// Returns the line without blanks around it.
  private static func trimmed(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
    guard let last = line.lastIndex(where: { !isBlank($0) }) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(rebasing: line[...last].drop(while: isBlank))
  }

  /// Delivers the beginning of a line that is too long, and skips the rest of it.
  private mutating func passOverLongLine(
    _ rest: UnsafeRawBufferPointer, end: Int?, consumed: inout Int,
    _ malformed: (borrowing CSVParser.MalformedRecord) throws -> CSVParser.IterationControl
  ) throws -> CSVParser.IterationControl {
    let (number, offset, wasSkipping) = (lineNumber, byteOffset, isSkippingLine)
    let passed = end.map { $0 + 1 } ?? rest.count
    consumed += passed
    byteOffset += passed
    searched = 0
    isSkippingLine = end == nil
    if end != nil { lineNumber += 1 }
    guard !wasSkipping else { return .continue }
    recordCount += 1
    let start = UnsafeRawBufferPointer(rebasing: rest.prefix(maxRecordLength))
    let excerpt = String(decoding: start.prefix(32), as: UTF8.self)
    return try malformed(
      CSVParser.MalformedRecord(
        error: CSVError(code: .recordTooLong, lineNumber: number, byteOffset: offset, excerpt: excerpt),
        lineNumber: number,
        recordNumber: recordCount, byteOffset: offset, rawBytes: start, isTruncated: true))
  }

  /// Finds the members of an object and returns the reason if it is malformed.
  private mutating func scan(_ text: UnsafeRawBufferPointer) -> JSONScanner.Failure? {
    for column in slots.indices { slots[column] = nil }
    var scanner = JSONScanner(text)
    do throws(JSONScanner.Failure) {
      try scanner.object { member throws(JSONScanner.Failure) in
        let name = JSONText.string(
          UnsafeRawBufferPointer(rebasing: text[member.name]), hasEscapes: member.nameHasEscapes)
        guard let position = positions[name] else {
          throw JSONScanner.Failure(position: member.name.lowerBound, reason: "a member that is not a column")
        }
        guard slots[position] == nil else {
          throw JSONScanner.Failure(position: member.name.lowerBound, reason: "a member for the second time")
        }
        slots[position] = member
      }
    } catch { return error }
    return nil
  }

  /// Writes the values of the members, in column order, to the tables that the record reads.
  private mutating func fillFields(from text: UnsafeRawBufferPointer) {
    contents.reserve(bytes: text.count + columns.count, fields: columns.count)
    var start = 0
    for (column, member) in slots.enumerated() {
      let target = contents.view.contents + start
      // The field of an absent member is the only one that is not rewritten.
      var (count, flags) = (0, member == nil ? 0 : FieldEnd.rewritten)
      if let member {
        let value = UnsafeRawBufferPointer(rebasing: text[member.value])
        switch member.kind {
        case .null: break
        case .true, .false:
          target.storeBytes(of: UInt8(ascii: member.kind == .true ? "1" : "0"), as: UInt8.self)
          count = 1
        case .string:
          flags |= FieldEnd.quoted
          if member.valueHasEscapes { count = JSONText.unescape(value, to: target) } else { fallthrough }
        case .number, .nested:
          if let source = value.baseAddress { target.copyMemory(from: source, byteCount: value.count) }
          count = value.count
        }
      }
      contents.view.lengths[column] = UInt32(count)
      fields.ends[column] = FieldEnd(position: start + count, flags: flags)
      start += count + 1
    }
  }
}
