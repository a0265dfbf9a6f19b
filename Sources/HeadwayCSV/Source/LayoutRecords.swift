import HeadwayLines

/// The records at the beginning of a file, and the layout that they indicate.
package struct LayoutRecords: Sendable {
  /// The records, starting with the first record that is part of the table.
  package private(set) var records: [SampleRecord]
  /// The number of fields that most records have.
  package let width: Int
  /// Whether records at the beginning were found not to be part of the table.
  private(set) var isCut = false

  /// More lines than this are not a preamble.
  private static let longestPreamble = 64
  /// The share of records that must have the same number of fields.
  private static let share = 0.8

  init(_ records: [SampleRecord]) {
    self.records = records
    var counts: [Int: (count: Int, last: Int)] = [:]
    for (position, record) in records.enumerated() where !record.isMalformed {
      counts[record.count] = ((counts[record.count]?.count ?? 0) + 1, position)
    }
    // If two numbers are equally common, the one that occurs last is used, because the table follows the preamble.
    width = counts.max { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }?.key ?? 0
  }

  mutating func drop(_ count: Int) {
    records.removeFirst(count)
    if count > 0 { isCut = true }
  }

  /// Returns the records after the first `start` ones.
  func behind(_ start: Int) -> LayoutRecords {
    var rest = self
    rest.drop(start)
    return rest
  }

  /// Whether most records have the same number of fields.
  var areRegular: Bool { hasBody(from: 0) }

  /// The first record of the usual width.
  var bodyStart: Int { records.firstIndex { $0.count == width } ?? 0 }

  /// Returns whether there are records from a position on, and most of them have the usual width.
  func hasBody(from start: Int) -> Bool {
    let body = records[start...]
    return width > 0 && !body.isEmpty
      && Double(body.count { $0.count == width }) >= Self.share * Double(body.count)
  }

  /// Whether the last field of all rows is empty.
  func rowsEndWithDelimiter(from start: Int) -> Bool {
    records[start...].allSatisfy { $0.count != width || $0.fields.last?.isEmpty == true }
  }

  /// Finds rows after a second header that repeat the first rows, in the same order.
  ///
  /// - Parameter header: The number of records that name the columns.
  /// - Returns: The lines of these rows. Empty if most rows after the second header are different.
  func repeatedLines(behind header: Int) -> Set<Int> {
    // If there is only one column, the name might be a value.
    guard header > 0, records.count > header, records[0].count > 1 else { return [] }
    let start = records.indices.dropFirst(header).first { records[$0].fields == records[0].fields }
    guard let start, start + 1 < records.count, records.count - start <= start else { return [] }
    let same = zip(records[(start + 1)...], records[1...]).filter { !$0.isMalformed && $0.fields == $1.fields }
    let isTable = Double(same.count) >= Self.share * Double(records.count - start - 1)
    return isTable ? Set(same.map(\.0.lineNumber)) : []
  }

  // MARK: Before the header

  /// Returns whether a record is a header whose number of names differs from the number of fields in the rows.
  ///
  /// The types must show that the record after it is a row, or most types must. If the rows have no types, the record
  /// must be the first one or follow only titles, and have about as many fields, or several. Names can look like
  /// numbers, as years do, but not after other lines.
  func isHeaderOfOtherWidth(_ position: Int) -> Bool {
    let record = records[position]
    guard width > 1, record.count > 1, record.filledCount > 1, !isTable(before: position + 1) else { return false }
    let values = record.fields.filter { ValueKind($0) != nil }
    switch agreement(of: records[position + 1], withRowsFrom: position + 2) {
    case .some(let agrees): return (agrees || resemblesRows(position + 1)) && (position == 0 || values.isEmpty)
    case nil:
      guard position == 0 else {
        return values.isEmpty && abs(record.count - width) == 1
          && records[..<position].allSatisfy { $0.filledCount <= 1 }
          && records[position + 1].lineNumber == record.lineNumber + 1
      }
      if values.isEmpty { return abs(record.count - width) == 1 || record.filledCount > 2 }
      return record.filledCount > 2 && Self.areNames(values)
    }
  }

  /// Returns whether more values of a record match the type of their column than do not.
  ///
  /// Integers that might be names are not counted as matches.
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

  /// Returns whether a record is a row, according to the types of its values.
  func isRow(_ position: Int) -> Bool { agreement(of: records[position], withRowsFrom: position + 1) == true }

  /// Returns whether a record might be a row, because nothing indicates a header.
  ///
  /// Types indicate a header, as do comments or a gap before the record.
  func mayBeRow(_ position: Int) -> Bool {
    let before = records[position - 1]
    return agreement(of: records[position], withRowsFrom: position + 1) != false
      && before.raw.first != UInt8(ascii: "#") && records[position].lineNumber == before.lineNumber + 1
  }

  /// Returns whether the records before a position are not part of the table.
  ///
  /// They are not if the types of the rows show that the record at the position is a header. If the rows have no types,
  /// that record must be further in, have several fields, or follow comments. Several records that form a separate
  /// table are skipped only if a header follows.
  func isPreamble(_ start: Int) -> Bool {
    guard start <= Self.longestPreamble, width > 1, records.count - start > 1 else { return false }
    if agreement(of: records[start], withRowsFrom: start + 1) == false { return true }
    if records[..<start].allSatisfy({ $0.raw.first == UInt8(ascii: "#") }) { return true }
    let isApart = records[start].lineNumber > records[start - 1].lineNumber + 1
    if isApart { return true }
    return !isTable(before: start) && (width > 2 || start > 1)
  }

  /// Returns whether the records before a position form a separate table: a header and at least two rows.
  private func isTable(before end: Int) -> Bool {
    let first = records[0].count
    return end > 2 && first > 1 && records[..<end].allSatisfy { $0.count == first }
  }

  /// The number of records at the beginning that are comments or have a single value, such as a title in a row that a
  /// spreadsheet has padded.
  ///
  /// Nil if the next record is not a header.
  var titleCount: Int? {
    let count = records.prefix { record in
      record.raw.first == UInt8(ascii: "#") || (record.count == width && width > 2 && record.filledCount <= 1)
    }.count
    guard (1...Self.longestPreamble).contains(count), records.count > count + 1 else { return nil }
    let (title, next) = (records[count - 1], records[count])
    // The next record might contain only the names that this record lacks.
    let hasOtherNames =
      title.filledCount == 1 && zip(title.fields, next.fields).allSatisfy { $0.isEmpty != $1.isEmpty }
    guard !hasOtherNames else { return nil }
    return agreement(of: records[count], withRowsFrom: count + 1) == false ? count : nil
  }

  // MARK: The header

  /// Whether the first record might be a row, and the comment before it the header.
  ///
  /// - Parameter isSpaced: Whether a space follows the first character of the comment.
  /// - Returns: False if the types of the rows show that the first record is a header, or that nothing is known.
  func mayFollowHeader(isSpaced: Bool) -> Bool {
    guard let first = records.first else { return false }
    return beginsWithRow || agreement(of: first, withRowsFrom: 1) ?? !isSpaced
  }

  /// Returns the columns whose values in the rows after the header are not text.
  func typedColumns(behind header: Int) -> [Int] {
    let kinds = ValueKind.kinds(of: records[header...], width: width)
    return kinds.indices.filter { kinds[$0] != nil }
  }

  /// Returns whether a record has values like the rows below it.
  ///
  /// Nil if those have no types.
  ///
  /// - Returns: True if each value matches the type of its column, where the column has one. False if a value does not
  ///   match.
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

  /// Whether the first record is a row, so that there is no header.
  ///
  /// Headers can contain numbers, dates, or times, such as `country,2019,2020`. Therefore, in addition to matching
  /// types, something else must indicate a row: different types, a fraction, a number that does not belong to a series
  /// of names, or a text that occurs again below.
  var beginsWithRow: Bool {
    guard let first = records.first, records.count > (isCut ? 1 : 2) else { return false }
    if repeatsMissing(first) { return true }
    guard agreement(of: first, withRowsFrom: 1) == true else { return false }
    let rows = records.dropFirst().filter { $0.count == width }
    let columns = 0..<width
    // A name can be missing, but if all rows have a value in a column, the first row would have one, too.
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
    // Several dates or times might be names, as in a timetable.
    if values.count == 1, kinds.contains(.date) || kinds.contains(.time) { return true }
    return kinds == [.number] && !Self.areNames(values)
  }

  /// Returns whether a record has the same word for a missing value in several typed columns, which names never have.
  private func repeatsMissing(_ first: SampleRecord) -> Bool {
    guard first.count == width else { return false }
    let words = typedColumns(behind: 1).map { first.fields[$0] }.filter { !$0.isEmpty && ValueKind.isMissing($0) }
    return Set(words).count < words.count
  }

  /// Returns whether integers might be names: years, or consecutive numbers.
  private static func areNames(_ values: [[UInt8]]) -> Bool {
    let numbers = values.compactMap { value in value.withUnsafeBytes { NumberParsing.integer($0) } }
    if numbers.allSatisfy({ (1_000...2_999).contains($0) }) { return true }
    guard numbers.count > 1 else { return numbers.first == 0 }
    return zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 }
  }
}
