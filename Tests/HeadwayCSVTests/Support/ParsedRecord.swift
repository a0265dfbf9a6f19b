import HeadwayCSV

/// A copy of everything that a parser reports about a record, so that two parses can be compared.
struct ParsedRecord: Equatable, CustomStringConvertible {
  struct Field: Equatable {
    var bytes: [UInt8]
    var isQuoted: Bool
  }

  struct Defect: Equatable {
    var code: CSVError.Code
    var lineNumber: Int
    var byteOffset: Int
  }

  var lineNumber: Int
  var recordNumber: Int
  var byteOffset: Int
  var rawBytes: [UInt8]
  var fields: [Field] = []
  var defect: Defect?
  var isTruncated = false

  var strings: [String] {
    fields.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  var description: String {
    let raw = String(decoding: rawBytes, as: UTF8.self).debugDescription
    let content =
      defect.map { "\($0.code) at line \($0.lineNumber), byte \($0.byteOffset)\(isTruncated ? ", truncated" : "")" }
      ?? "\(strings) quoted: \(fields.map(\.isQuoted))"
    return "#\(recordNumber) line \(lineNumber) byte \(byteOffset) \(raw): \(content)"
  }
}

extension ParsedRecord {
  init(_ record: borrowing CSVRecord) {
    var fields: [Field] = []
    for index in 0..<record.count {
      fields.append(Field(bytes: Array(record.unsafeBytes(at: index)), isQuoted: record.wasQuoted(at: index)))
    }
    self.init(
      lineNumber: record.lineNumber, recordNumber: record.recordNumber, byteOffset: record.byteOffset,
      rawBytes: Array(record.rawBytes),
      fields: fields)
  }

  init(_ record: borrowing CSVParser.MalformedRecord) {
    let error = record.error
    self.init(
      lineNumber: record.lineNumber, recordNumber: record.recordNumber, byteOffset: record.byteOffset,
      rawBytes: Array(record.rawBytes),
      defect: Defect(code: error.code, lineNumber: error.lineNumber, byteOffset: error.byteOffset),
      isTruncated: record.isTruncated)
  }
}

/// The expectation of a case for one record: its fields, or its defect.
enum ExpectedRecord: Equatable, Sendable, ExpressibleByArrayLiteral {
  case fields([String])
  case malformed(CSVError.Code, raw: String)

  init(arrayLiteral elements: String...) {
    self = .fields(elements)
  }

  init(_ record: ParsedRecord) {
    if let defect = record.defect {
      self = .malformed(defect.code, raw: String(decoding: record.rawBytes, as: UTF8.self))
    } else {
      self = .fields(record.strings)
    }
  }
}
