import HeadwayLines

/// A record at the beginning of a file, which is kept to compare it with others.
package struct SampleRecord: Sendable {
  /// The physical line where the record starts.
  let lineNumber: Int
  package let fields: [[UInt8]]
  /// The unchanged bytes of the record in the file.
  let raw: [UInt8]
  /// For each field, whether it has quotes.
  ///
  /// In JSON Lines, whether it is a string.
  private let quotes: [Bool]
  /// The defect of the record.
  ///
  /// Nil if it is well-formed.
  let defect: CSVError?

  var isMalformed: Bool { defect != nil }
  /// Whether a field is in quotes, or might be.
  var quotesFields: Bool { isMalformed || quotes.contains(true) }
  /// The number of fields.
  ///
  /// 0 for a malformed record.
  package var count: Int { fields.count }
  var filledCount: Int { fields.count { !$0.isEmpty } }
  /// Whether a field contains a word for a missing value, a fraction, a date or a time, or two fields have the same
  /// text.
  var isUnlikeNames: Bool {
    let filled = fields.filter { !$0.isEmpty }
    return Set(filled).count < filled.count
      || filled.contains { field in
        ValueKind.isMissing(field) || ![nil, .number].contains(ValueKind(field))
      }
  }

  /// Enough for any header, and for the types of most columns.
  ///
  /// A sample of long records has fewer.
  private static let most = 2_000

  private init(_ record: borrowing CSVRecord) {
    lineNumber = record.lineNumber
    fields = (0..<record.count).map { Array(record.unsafeBytes(at: $0)) }
    raw = Array(record.rawBytes)
    quotes = (0..<record.count).map { record.wasQuoted(at: $0) }
    defect = nil
  }

  private init(_ record: borrowing CSVParser.MalformedRecord) {
    (lineNumber, fields, raw) = (record.lineNumber, [], Array(record.rawBytes))
    (quotes, defect) = ([], record.error)
  }

  /// Returns whether a field is in quotes.
  ///
  /// In JSON Lines, whether it is a string.
  package func wasQuoted(at position: Int) -> Bool { position < quotes.count && quotes[position] }

  /// Returns the well-formed records of a sample of JSON Lines.
  static func all(inJSONLines bytes: UnsafeRawBufferPointer, isWhole: Bool, _ columns: [String]) -> [SampleRecord] {
    var records: [SampleRecord] = []
    var parser = JSONLinesParser(columns: columns, maxRecordLength: max(bytes.count, 1))
    func flow() -> CSVParser.IterationControl { records.count < most ? .continue : .stop }
    _ = try? parser.parse(bytes, isFinal: isWhole) { record in
      records.append(SampleRecord(record))
      return flow()
    } malformed: { _ in
      flow()
    }
    return records
  }

  /// Returns the complete records of a sample.
  ///
  /// - Parameters:
  ///   - bytes: The beginning of the file.
  ///   - isWhole: Whether `bytes` are the whole file.
  ///   - dialect: The dialect of the file.
  ///   - skippedLineCount: The number of physical lines at the start that are not records.
  /// - Returns: The records, in file order.
  static func all(
    in bytes: UnsafeRawBufferPointer, isWhole: Bool, _ dialect: CSVDialect, skippedLineCount: Int
  ) -> [SampleRecord] {
    var records: [SampleRecord] = []
    var parser = CSVParser(dialect: dialect, skippedLineCount: skippedLineCount)
    func flow() -> CSVParser.IterationControl { records.count < most ? .continue : .stop }
    let consumed = parser.parse(bytes, isFinal: isWhole) { record in
      records.append(SampleRecord(record))
      return flow()
    } malformed: { record in
      records.append(SampleRecord(record))
      return flow()
    }
    // If a quote stays open up to the end of the sample, either it stays open in the whole file, or the sample does not
    // contain one complete record.
    guard records.isEmpty, !isWhole, consumed < bytes.count else { return records }
    return all(in: bytes, isWhole: true, dialect, skippedLineCount: skippedLineCount).dropLast()
  }
}

/// The kind of values that a field has, as people perceive it.
///
/// It distinguishes a header from rows.
enum ValueKind {
  case number, fraction, date, time

  /// Nil for any other text.
  init?(_ field: [UInt8]) {
    let groups = field.split(omittingEmptySubsequences: false) { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let separators = Set(field.filter { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    let areNumbers = groups.allSatisfy { (1...4).contains($0.count) }
    if areNumbers, groups.count == 3, separators.count == 1, "-/.".utf8.contains(separators.first ?? 0) {
      self = .date
    } else if areNumbers, (2...3).contains(groups.count), separators == [UInt8(ascii: ":")] {
      self = .time
    } else if field.withUnsafeBytes({ NumberParsing.integer($0) }) != nil {
      self = .number
    } else {
      let point = field.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
      guard point.withUnsafeBytes({ NumberParsing.real($0) }) != nil else { return nil }
      self = .fraction
    }
  }

  /// Integers among fractions are fractions.
  static func common(_ one: ValueKind, _ other: ValueKind) -> ValueKind? {
    if one == other { return one }
    return [one, other].allSatisfy { $0 == .number || $0 == .fraction } ? .fraction : nil
  }

  /// Returns whether a field means that there is no value, or that the value is not known.
  ///
  /// Apart from known words, these are fields without a letter or digit, words in brackets that are not units, and the
  /// errors of spreadsheets, such as `#N/A` and `#REF!`.
  static func isMissing(_ field: [UInt8]) -> Bool {
    guard field.count <= longestMissing else { return false }
    let text = field.drop { $0 == UInt8(ascii: " ") }
    guard let first = text.first, let last = text.last else { return true }
    if text.allSatisfy({ $0 < 0x80 && !isLetterOrDigit($0) && !"%$".utf8.contains($0) }) { return true }
    if let position = opening.firstIndex(of: first), last == closing[position] {
      return !text.contains(where: isDigit) && !HeaderWord.isUnit(Array(text))
    }
    if first == UInt8(ascii: "#"), text.contains(where: { "/!?".utf8.contains($0) }) { return true }
    return missing.contains(String(decoding: text, as: UTF8.self).lowercased())
  }

  private static let (opening, closing) = (Array("([<{".utf8), Array(")]>}".utf8))

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static let missing: Set<String> = [
    "na", "n/a", "n.a", "n.a.", "n/d", "nd", "n.d", "n.d.", "s.d.", "n.v.", "k.a.", "k. a.", "nan", "-nan", "#na",
    "#nan", "null", "nil", "–", "—", "…", "none", "\\n", "unknown", "unk", "unk.", "undefined",
    "undef", "missing", "empty", "void", "blank", "tbd", "tba", "tbc", "pending", "no data", "nodata", "not available",
    "not applicable", "not known", "not given", "unavailable", "unspecified", "unbekannt", "inconnu", "desconocido",
  ]
  private static let longestMissing = missing.map(\.utf8.count).max() ?? 0

  /// Returns the kind of all values of each column.
  ///
  /// Nil for a column whose values are of several kinds or text, or that has no values.
  static func kinds(of rows: some Sequence<SampleRecord>, width: Int) -> [ValueKind?] {
    var kinds: [ValueKind?] = Array(repeating: nil, count: width)
    var isText = Array(repeating: false, count: width)
    for row in rows where row.count == width {
      for (column, field) in row.fields.enumerated() where !isText[column] && !isMissing(field) {
        let kind = ValueKind(field)
        kinds[column] = kinds[column].map { known in kind.flatMap { common(known, $0) } } ?? kind
        isText[column] = kinds[column] == nil
      }
    }
    return kinds
  }
}
