import HeadwayLines

/// The records of a file's beginning, and what they show of its layout.
package struct LayoutRecords: Sendable {
  /// The records, from the first one that is part of the table.
  package private(set) var records: [SampleRecord]
  /// The number of fields that most records have.
  package let width: Int
  /// Records at the beginning were found to be no part of the table.
  private(set) var isCut = false

  /// More lines are no preamble.
  private static let longestPreamble = 64
  /// The share of records that must be alike.
  private static let share = 0.8

  init(_ records: [SampleRecord]) {
    self.records = records
    var counts: [Int: (count: Int, last: Int)] = [:]
    for (position, record) in records.enumerated() where !record.isMalformed {
      counts[record.count] = ((counts[record.count]?.count ?? 0) + 1, position)
    }
    // Of two that are as common, the one that comes last: the table is behind what comes before it.
    width = counts.max { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }?.key ?? 0
  }

  mutating func drop(_ count: Int) {
    records.removeFirst(count)
    if count > 0 { isCut = true }
  }

  /// The records from one on.
  func behind(_ start: Int) -> LayoutRecords {
    var rest = self
    rest.drop(start)
    return rest
  }

  /// Whether most records have the same number of fields.
  var areRegular: Bool { hasBody(from: 0) }

  /// The first record of the usual width.
  var bodyStart: Int { records.firstIndex { $0.count == width } ?? 0 }

  /// Whether there are records from there, of which most have the usual width.
  func hasBody(from start: Int) -> Bool {
    let body = records[start...]
    return width > 0 && !body.isEmpty
      && Double(body.count { $0.count == width }) >= Self.share * Double(body.count)
  }

  /// Whether the last field of all rows is empty.
  func rowsEndWithDelimiter(from start: Int) -> Bool {
    records[start...].allSatisfy { $0.count != width || $0.fields.last?.isEmpty == true }
  }

  /// Finds rows behind a second header that are the same as the first rows, in their order.
  ///
  /// - Parameter header: How many records name the columns.
  /// - Returns: The lines of these rows; none if most rows behind the second header are others.
  func repeatedLines(behind header: Int) -> Set<Int> {
    // In one column, the name may be a value.
    guard header > 0, records.count > header, records[0].count > 1 else { return [] }
    let start = records.indices.dropFirst(header).first { records[$0].fields == records[0].fields }
    guard let start, start + 1 < records.count, records.count - start <= start else { return [] }
    let same = zip(records[(start + 1)...], records[1...]).filter { !$0.isMalformed && $0.fields == $1.fields }
    let isTable = Double(same.count) >= Self.share * Double(records.count - start - 1)
    return isTable ? Set(same.map(\.0.line)) : []
  }

  // MARK: Before the header

  /// Whether a record is a header with another number of names than the rows have fields.
  ///
  /// The record behind it must be a row by its types, or by most of them. If nothing shows that, the record must be the
  /// first one, or behind titles alone, and have about as many fields, or several. Names may look like numbers, as
  /// years do, but not behind other lines.
  func isHeaderOfOtherWidth(_ position: Int) -> Bool {
    let record = records[position]
    guard width > 1, record.count > 1, record.filledCount > 1, !isTable(before: position + 1) else { return false }
    let values = record.fields.filter { ValueKind($0) != nil }
    switch agreement(of: records[position + 1], withRowsFrom: position + 2) {
    case .some(let agrees): return (agrees || resemblesRows(position + 1)) && (position == 0 || values.isEmpty)
    case nil:
      guard position == 0 else {
        return values.isEmpty && abs(record.count - width) == 1
          && records[..<position].allSatisfy { $0.filledCount <= 1 } && records[position + 1].line == record.line + 1
      }
      if values.isEmpty { return abs(record.count - width) == 1 || record.filledCount > 2 }
      return record.filledCount > 2 && Self.areNames(values)
    }
  }

  /// Whether more values of a record are of their column's type than are not; without whole numbers that may be names.
  private func resemblesRows(_ position: Int) -> Bool {
    let record = records[position]
    guard record.count == width else { return false }
    let kinds = ValueKind.kinds(of: records[(position + 1)...], width: width)
    var (same, other) = (0, 0)
    for (kind, field) in zip(kinds, record.fields) where !ValueKind.isMissing(field) {
      guard let kind else { continue }
      guard let own = ValueKind(field), ValueKind.common(own, kind) != nil else {
        other += 1
        continue
      }
      if own != .number || !Self.areNames([field]) { same += 1 }
    }
    return same > other
  }

  /// Whether a record is a row, by the types of its values.
  func isRow(_ position: Int) -> Bool { agreement(of: records[position], withRowsFrom: position + 1) == true }

  /// Whether a record may be a row: nothing shows that it is a header, as types, or comments or a gap before it, do.
  func mayBeRow(_ position: Int) -> Bool {
    let before = records[position - 1]
    return agreement(of: records[position], withRowsFrom: position + 1) != false
      && before.raw.first != UInt8(ascii: "#") && records[position].line == before.line + 1
  }

  /// Whether the records before one are no part of the table.
  ///
  /// That one is a header, by the types of the rows; or, where they have none, it is further in, or of several fields,
  /// or behind comments.
  /// Several records that are a table by themselves are left out only if a header follows.
  func isPreamble(_ start: Int) -> Bool {
    guard start <= Self.longestPreamble, width > 1, records.count - start > 1 else { return false }
    if agreement(of: records[start], withRowsFrom: start + 1) == false { return true }
    if records[..<start].allSatisfy({ $0.raw.first == UInt8(ascii: "#") }) { return true }
    let isApart = records[start].line > records[start - 1].line + 1
    if isApart { return true }
    return !isTable(before: start) && (width > 2 || start > 1)
  }

  /// Whether the records before one are those of a table of their own: a header and two rows or more.
  private func isTable(before end: Int) -> Bool {
    let first = records[0].count
    return end > 2 && first > 1 && records[..<end].allSatisfy { $0.count == first }
  }

  /// How many records at the beginning are comments, or have one value, as a title does of which a spreadsheet has
  /// filled up the row; nil if what follows is no header.
  var titleCount: Int? {
    let count = records.prefix { record in
      record.raw.first == UInt8(ascii: "#") || (record.count == width && width > 2 && record.filledCount <= 1)
    }.count
    guard (1...Self.longestPreamble).contains(count), records.count > count + 1 else { return nil }
    return agreement(of: records[count], withRowsFrom: count + 1) == false ? count : nil
  }

  // MARK: The header

  /// Whether a record has values like the rows below it; nil if those have no types.
  ///
  /// - Returns: True if each value is of its column's type where that has one, false if one is not.
  private func agreement(of record: SampleRecord, withRowsFrom start: Int) -> Bool? {
    guard start < records.count, record.count == width else { return nil }
    let kinds = ValueKind.kinds(of: records[start...], width: width)
    var isTyped = false
    for (kind, field) in zip(kinds, record.fields) where !ValueKind.isMissing(field) {
      guard let kind else { continue }
      isTyped = true
      guard let own = ValueKind(field), ValueKind.common(own, kind) != nil else { return false }
    }
    return isTyped ? true : nil
  }

  /// Whether the first record is a row, and there is no header.
  ///
  /// Headers may be numbers, dates or times themselves, as `country,2019,2020` is. So beside its types something else
  /// must speak for a row: different types, a fraction, a number that no series of names has, or a text that comes
  /// again below.
  var beginsWithRow: Bool {
    guard let first = records.first, records.count > (isCut ? 1 : 2), agreement(of: first, withRowsFrom: 1) == true
    else { return false }
    let rows = records.dropFirst().filter { $0.count == width }
    let columns = 0..<width
    // A name may be left out, but where all rows have a value a row has one too.
    guard
      !columns.contains(where: { column in
        first.fields[column].isEmpty && rows.allSatisfy { !$0.fields[column].isEmpty }
      })
    else { return false }
    let typed = ValueKind.kinds(of: rows, width: width).enumerated().compactMap { column, kind in
      kind.map { (column: column, kind: $0) }
    }
    let comesAgain = columns.contains { column in
      ValueKind(first.fields[column]) == nil && !ValueKind.isMissing(first.fields[column])
        && rows.contains { $0.fields[column] == first.fields[column] }
    }
    let values = typed.map { first.fields[$0.column] }
    if comesAgain || Set(typed.map(\.kind)).subtracting([.fraction]).count > 1 { return true }
    let kinds = Set(values.compactMap { ValueKind($0) })
    if kinds.contains(.fraction) { return true }
    // Several dates or times may be names, as in a timetable.
    if values.count == 1, kinds.contains(.date) || kinds.contains(.time) { return true }
    return kinds == [.number] && !Self.areNames(values)
  }

  /// Whether whole numbers may be names: years, or numbers that count up.
  private static func areNames(_ values: [[UInt8]]) -> Bool {
    let numbers = values.compactMap { value in value.withUnsafeBytes { NumberParsing.integer($0) } }
    if numbers.allSatisfy({ (1_000...2_999).contains($0) }) { return true }
    guard numbers.count > 1 else { return numbers.first == 0 }
    return zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 }
  }

  /// How many records name the columns.
  ///
  /// More than one only if something shows that they are no rows: those behind the first have no value of its column's
  /// type, in several columns, and repeat the first, fill its gaps, or have units and names of types. Words that mean a
  /// missing value, as in a first row, show nothing.
  var headerRecordCount: Int {
    for depth in [3, 2] where records.count > depth + 1 {
      let kinds = ValueKind.kinds(of: records[depth...], width: width)
      let areNames = records[..<depth].allSatisfy { record in
        guard record.count == width else { return false }
        let values = zip(kinds, record.fields).filter { $0 != nil && !ValueKind.isMissing($1) }.map(\.1)
        return values.count > 1 && values.allSatisfy { ValueKind($0) == nil }
      }
      if areNames, continuesHeader(1), records[2..<depth].allSatisfy({ !isLikeRow($0, from: depth) }) { return depth }
    }
    return 1
  }

  /// Whether a record goes on with the names of the first one.
  private func continuesHeader(_ position: Int) -> Bool {
    let (header, record) = (records[0], records[position])
    if record.fields == header.fields { return true }
    guard !isLikeRow(record, from: position + 1) else { return false }
    let gaps = header.fields.indices.filter { header.fields[$0].isEmpty }
    if gaps.count > 1, gaps.allSatisfy({ !record.fields[$0].isEmpty }) { return true }
    return record.fields.count { Self.isUnit($0) } > 1
  }

  /// Whether a record has a text with digits, or one that comes again below in its column.
  private func isLikeRow(_ record: SampleRecord, from start: Int) -> Bool {
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    return record.fields.indices.contains { column in
      let field = record.fields[column]
      guard !field.isEmpty else { return false }
      return field.contains(where: isDigit)
        || records[start...].contains { $0.count == width && $0.fields[column] == field }
    }
  }

  /// Whether a field is a unit, in brackets or a common one, or the name of a type.
  private static func isUnit(_ field: [UInt8]) -> Bool {
    guard field.count <= 12 else { return false }
    let text = String(decoding: field, as: UTF8.self).lowercased()
    if let first = text.first, let last = text.last, "([".contains(first), ")]".contains(last) { return true }
    return units.contains(text)
  }

  private static let units: Set<String> = [
    "text", "string", "varchar", "char", "integer", "int", "number", "numeric", "decimal", "real", "float", "double",
    "boolean", "bool", "date", "time", "datetime", "timestamp", "yyyy-mm-dd", "hh:mm", "m", "km", "cm", "mm", "ft",
    "mi", "kg", "g", "mg", "lb", "s", "sec", "min", "h", "hours", "days", "years", "ms", "m/s", "km/h", "mph",
    "kn", "deg", "degrees", "deg c", "degc", "°c", "°f", "°", "pa", "hpa", "kpa", "mbar", "kw", "kwh", "mwh", "hz",
    "%", "percent", "ppm", "eur", "usd", "gbp", "chf", "€", "$", "£", "ml", "m2", "m3", "m²", "m³", "ha",
  ]
}
