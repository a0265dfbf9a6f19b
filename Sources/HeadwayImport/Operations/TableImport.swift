#if SQLite
import GRDB
import Headway
import HeadwayCSV
import HeadwayLines

/// One run of an ``ImportOperation``: reads the header, prepares the table, and passes batches from the parser to the
/// database.
final class TableImport {
  private let operation: ImportOperation
  private let path: String
  private let options: ImportOptions
  private let database: ImportDatabase

  init(_ operation: ImportOperation) {
    self.operation = operation
    path = operation.file
    options = operation.options
    database = operation.database
  }

  func run() throws {
    database.waitForTurn(of: operation)
    defer { database.endTurn(of: operation) }
    guard !operation.isCancelled else { return }
    let group = operation.group
    guard group?.begin() != false else { return operation.cancel() }
    var isComplete = false
    defer { group?.end(isComplete: isComplete) }
    let (records, header, plan) = try Trace.span("examine \(operation.table.name)") { try examine() }
    let keys = group?.takeKeys() ?? FileGroup.Keys()
    let target = try TargetTable(
      plan, records, header: plan.columns.compactMap { $0.field.map { header[$0] } }, writtenKeys: keys.stored,
      for: operation)
    if let completion = target.completion { operation.note(completion) }
    defer {
      target.close(isCancelled: operation.isCancelled, rows: operation.report.rowCount)
      operation.noteChanges(target.schemaChanges)
      if target.isReplacing { operation.takeBackRows() }
    }
    // SQLite finds duplicates only after columns have widened for them.
    let findsDuplicates = (target.updates || !plan.inferredColumns.isEmpty) && !target.writer.asksForKeys
    var encoder = RowEncoder(
      plan, known: try target.knownKeys(), seen: findsDuplicates ? keys.encoded : nil, header: records.headerFields,
      options)
    defer { operation.noteConversions(plan, uneven: encoder.unevenColumns) }
    let line = BatchLine(operation, target)
    // If reading fails, the records read before are written before the operation ends.
    defer { line.waitForAll() }

    try line.report(skippedRecords(records))
    try Trace.span("parse \(operation.table.name)") {
      try Self.forEach(records) { record in
        encoder.encode(record, into: line.filling)
        return try self.next(line, records.fileOffset(ofText: record.byteOffset + record.rawBytes.count))
      } malformed: { record in
        encoder.reject(record, into: line.filling)
        return try self.next(line, records.fileOffset(ofText: record.byteOffset + record.rawBytes.count))
      }
      line.filling.endOffset = records.offset
      try line.finish()
    }
    guard !operation.isCancelled else { return }

    let report = operation.report
    let takesNone = report.rowCount == 0 && report.rejectedRowCount > 0
    // Rows that are appended a second time already exist, and earlier files might have all rows of this one.
    let mayHaveAll = options.existingRowPolicy.keepsRows && plan.hasKey
    let hasDuplicates = group != nil && (encoder.hasDuplicates || target.writer.hasDuplicates)
    if takesNone, !options.allowsNoRows, !mayHaveAll, !hasDuplicates { throw noRows(report) }
    try line.report(target.unresolved(encoder.selfReferences))
    try requireAll(of: records)
    let refused = try Trace.span("finish \(operation.table.name)") {
      try target.finish(
        lastRecord: records.count, rows: report.rowCount, takesNone: takesNone,
        mayGoOn: { [operation] in !operation.isCancelled })
    }
    for (operation, rows) in refused where !rows.isEmpty {
      try operation.refused(rows)
    }
    group?.keep(FileGroup.Keys(encoded: encoder.seen ?? KeySet(), stored: target.writer.writtenKeys))
    operation.noteEnd(target)
    for note in encoder.notes { operation.note(note) }
    if records.isEncodingAssumed, operation.report.layout?.isEncodingAssumed == false {
      operation.note("the text is not UTF-8 and was read as \(records.encoding): --encoding names another one")
    }
    operation.noteUnchecked(try target.uncheckedReferences())
    isComplete = true
  }

  /// Opens the file, reads its header, and determines the columns and their types.
  private func examine() throws -> (records: RecordSource, header: [String], plan: TablePlan) {
    let records = try RecordSource(
      path: path, options: options, findsLayout: !operation.table.isOfReference,
      knownColumns: database.columns(of: operation.table), isCancelled: { [operation] in operation.isCancelled })
    let header = try records.requireHeader()
    try operation.table.requireNames(of: records)
    operation.opened(records, CSVLayout(records, columns: header))
    operation.noteHeader(Self.headerNotes(records))
    var existing = try database.existing(operation.table, header: header)
    existing.inferredTypes.merge(operation.group?.inferredTypes ?? [:]) { $1 }
    let plan = try makePlan(records, header, existing)
    guard plan.hasKey || SQL.hasRowIdentifier(besideColumns: header + existing.columns) else {
      throw ImportError(
        .unsuitableTable, path: path,
        context: "The columns rowid, _rowid_ and oid leave no name for the row's number: specify the key.")
    }
    guard plan.hasKey || !plan.ignoresExisting else {
      throw ImportError(
        .unsuitableTable, path: path,
        context: "The table \(plan.table) has no key, so existing rows can't be recognized: specify the key.")
    }
    return (records, header, plan)
  }

  /// Describes the records at the beginning of the file that might be rows but are not imported as rows.
  private static func headerNotes(_ records: RecordSource) -> [String] {
    let layout = records.layout
    var notes: [String] = []
    if layout.hasHeader, !records.isJSONLines, layout.headerRecordCount > 1 {
      notes.append(
        "the first \(layout.headerRecordCount) lines of the table together form its header. If only one of them does, "
          + "use --header")
    }
    let skipped = layout.skippedRecords.filter { $0.record.first != UInt8(ascii: "#") }
    if let first = skipped.first {
      let lines =
        skipped.count == 1 ? "line \(first.lineNumber) is" : "\(skipped.count) lines from line \(first.lineNumber) are"
      notes.append("\(lines) not imported: \(first.reason). The file of rejected rows contains it")
    }
    return notes
  }

  /// The error for a file whose rows were all rejected.
  private func noRows(_ report: TableReport) -> ImportError {
    let place = report.rejectedRowsPath.map { "; see \($0)" } ?? ""
    return ImportError(
      .noRows, path: path,
      context: "\(report.rejectedRowCount.noneOfRows) be imported. The database is unchanged\(place).")
  }

  /// Passes each record to the blocks and converts reading errors to ``ImportError``.
  private static func forEach(
    _ records: RecordSource, _ record: (borrowing CSVRecord) throws -> CSVParser.IterationControl,
    malformed: (borrowing CSVParser.MalformedRecord) throws -> CSVParser.IterationControl
  ) throws {
    do { try records.forEach(record, malformed: malformed) } catch let error as CSVReaderError {
      throw ImportError(error)
    }
  }

  private func makePlan(
    _ records: RecordSource, _ header: [String], _ existing: ImportDatabase.Existing
  ) throws -> TablePlan {
    let layout = records.layout
    // Rows without column names must not be matched with the named columns of a table.
    let known = Set(existing.columns.map(\.lowercasedAsName))
    guard layout.hasHeader || options.hasHeader == false || known.isEmpty || known.isSuperset(of: header) else {
      throw ImportError(
        .badHeader, path: path, lineNumber: layout.unusableHeader?.lineNumber ?? 1,
        context: "The columns of the table \(operation.table.name) can't be found: "
          + (layout.unusableHeader?.reason ?? "there seems to be no header") + ".")
    }
    var plan = try TablePlan(
      existing.schema, header: header, path: path, choosing: options.columns,
      requiresSchemaColumns: options.requiresSchemaColumns)
    plan.hasHeader = layout.hasHeader
    plan.meet(existingColumns: existing.columns)
    plan.isJSONLines = records.isJSONLines
    plan.isAppended = options.existingRowPolicy.keepsRows
    plan.ignoresExisting = options.existingRowPolicy == .ignore
    plan.endsRowsWithDelimiter = layout.endsRowsWithDelimiter
    plan.namesSurplusFields = layout.namesSurplusFields
    plan.repeatedLines = layout.repeatedLines
    if layout.quotesFields { plan.quoting = records.dialect }
    let notes = plan.inferTypes(
      in: records, options, described: operation.table.columns, existing: existing.inferredTypes)
    for note in notes { operation.note(note) }
    plan.meet(affinities: existing.affinities, described: operation.table.columns)
    return plan
  }

  /// The issues of records at the beginning of the file that are not part of the table.
  private func skippedRecords(_ records: RecordSource) -> [RowIssue] {
    records.layout.skippedRecords.map { record in
      RowIssue(
        table: operation.table.name, lineNumber: record.lineNumber, status: .skipped, reason: record.reason,
        record: record.record)
    }
  }

  /// Ensures that each record of the file is the header, in the table, or among the rejected rows.
  ///
  /// - Throws: ``ImportError`` with the code `lostRecords`.
  private func requireAll(of records: RecordSource) throws {
    let report = operation.report
    let accounted = records.headerCount + report.rowCount + report.rejectedRowCount + report.ignoredRowCount
    let skipped = records.layout.skippedRecords.count
    guard accounted == records.count, report.skippedRecordCount == skipped else {
      throw ImportError(
        .lostRecords, path: path,
        context: "Of \(records.count + skipped) records, \(accounted + report.skippedRecordCount) are the header, "
          + "in the table, ignored, or rejected. This is a fault in Headway: please report it.")
    }
  }

  /// Called after each record: sends the batch when it is full, and returns whether to continue.
  private func next(_ line: BatchLine, _ endOffset: Int) throws -> CSVParser.IterationControl {
    line.filling.endOffset = endOffset
    if options.stopsAtFirstMalformedRow, let rejected = line.filling.issues.first(where: { $0.status == .rejected }) {
      try line.finish()
      throw rejected.error(path: path)
    }
    if line.filling.isFull || line.filling.issues.count >= options.batchSize {
      guard !operation.isCancelled else { return .stop }
      try line.handOver()
    }
    return .continue
  }
}

extension RowIssue {
  /// The error that makes a strict import fail at this row.
  func error(path: String) -> ImportError {
    // The position of the error already contains the line.
    let place = "line \(lineNumber), "
    let rest = reason.hasPrefix(place) ? String(reason.dropFirst(place.count)) : reason
    return ImportError(
      .malformedRow, path: path, lineNumber: lineNumber, context: "The row can't be imported: \(rest).")
  }
}
#endif
