#if SQLite
  import GRDB
  import Headway
  import HeadwayCSV
  import HeadwayLines

  /// One run of an ``ImportOperation``: reads the header, prepares the table, and moves batches from the parser to the
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
      let records = try RecordSource(
        path: path, options: options, findsLayout: !operation.table.isOfReference,
        knownColumns: database.columns(of: operation.table))
      let header = try records.requireHeader()
      try operation.table.requireNames(of: records)
      operation.opened(records, FileForm(records, columns: header))
      let existing = try database.existing(operation.table, header: header)
      let plan = try makePlan(records, header, existing)
      guard plan.hasKey || SQL.hasRowIdentifier(besideColumns: header + existing.columns) else {
        throw ImportError(
          .unsuitableTable, path: path,
          message: "The columns rowid, _rowid_ and oid leave no name for the row's number: say what the key is.")
      }
      let target = try TargetTable(
        plan, operation.table, records, header: header, options, run: operation.run, in: database)
      defer {
        target.close(isCancelled: operation.isCancelled, rows: operation.report.rows)
        if target.isReplacing { operation.takeBackRows() }
      }
      var encoder = RowEncoder(
        plan, known: try target.knownKeys(), remembersKeys: target.updates && !target.writer.asksForKeys,
        headerRecord: records.headerRecord, options)
      let line = BatchLine(operation, target)
      // When reading fails, what was read before is written before the operation ends.
      defer { line.waitForAll() }

      try line.report(skippedRecords(records))
      try Self.forEach(records) { record in
        encoder.encode(record, into: line.filling)
        return try self.next(line, records.fileOffset(ofText: record.byteOffset + record.rawBytes.count))
      } malformed: { record in
        encoder.reject(record, into: line.filling)
        return try self.next(line, records.fileOffset(ofText: record.byteOffset + record.rawBytes.count))
      }
      line.filling.endOffset = records.offset
      try line.finish()
      guard !operation.isCancelled else { return }

      try line.report(target.unresolved(encoder.selfReferences))
      try target.finish(
        lastRecord: records.count, rows: operation.report.rows, mayGoOn: { [operation] in !operation.isCancelled })
      try requireAll(of: records)
      for note in encoder.notes { operation.note(note) }
      operation.noteUnchecked(try target.uncheckedReferences())
    }

    /// Hands out the records, and says as an ``ImportError`` that they can't be read.
    private static func forEach(
      _ records: RecordSource, _ record: (borrowing CSVRecord) throws -> CSVFlow,
      malformed: (borrowing CSVMalformedRecord) throws -> CSVFlow
    ) throws {
      do { try records.forEach(record, malformed: malformed) } catch let error as CSVReaderError {
        throw ImportError(error)
      }
    }

    private func makePlan(
      _ records: RecordSource, _ header: [String], _ existing: ImportDatabase.Existing
    ) throws -> TablePlan {
      let layout = records.layout
      // Rows that have no names are put under none that a table has.
      let known = Set(existing.columns.map(\.lowercasedAsName))
      guard layout.hasHeader || options.hasHeader == false || known.isEmpty || known.isSuperset(of: header) else {
        throw ImportError(
          .badHeader, path: path, line: layout.unusableHeader?.line ?? 1,
          message: "The columns of the table \(operation.table.name) can't be found: "
            + (layout.unusableHeader?.reason ?? "there seems to be no header") + ".")
      }
      var plan = try TablePlan(
        existing.schema, header: header, path: path, requiresDescribedColumns: options.requiresDescribedColumns)
      plan.hasHeader = layout.hasHeader
      plan.meet(existingColumns: existing.columns)
      plan.endsRowsWithDelimiter = layout.endsRowsWithDelimiter
      plan.namesSurplusFields = layout.namesSurplusFields
      if layout.quotesFields { plan.quoting = records.dialect }
      let types = records.takeSample()?.types(behind: layout.hasHeader ? layout.headerRecords : 0, options) ?? []
      plan.setFound(types.map(\.type), described: operation.table.columns, existing: existing.foundTypes)
      // Of a table that is made: what is there has its types.
      if existing.columns.isEmpty {
        for column in plan.columns where !operation.table.columns.contains(where: { $0.name == column.name }) {
          guard !column.isKey, let field = column.field, field < types.count else { continue }
          if let note = types[field].note(on: column.name) { operation.note(note) }
        }
      }
      return plan
    }

    /// Records at the beginning that are no part of the table are in the rejects.
    private func skippedRecords(_ records: RecordSource) -> [RejectedRow] {
      records.layout.skippedRecords.map { record in
        RejectedRow(
          table: operation.table.name, line: record.line, status: .skipped, reason: record.reason,
          record: record.record)
      }
    }

    /// Makes sure that each record of the file is the header, in the table, or in the rejects.
    ///
    /// - Throws: ``ImportError`` with the code `lostRecords`.
    private func requireAll(of records: RecordSource) throws {
      let report = operation.report
      let accounted = records.headerCount + report.rows + report.rejected
      let skipped = records.layout.skippedRecords.count
      guard accounted == records.count, report.skipped == skipped else {
        throw ImportError(
          .lostRecords, path: path,
          message: "Of \(records.count + skipped) records, \(accounted + report.skipped) are the header, in the table "
            + "or in the rejects. This is a fault in Headway: please report it.")
      }
    }

    /// After each record: hands the batch over when it is full, and looks whether to go on.
    private func next(_ line: BatchLine, _ endOffset: Int) throws -> CSVFlow {
      line.filling.endOffset = endOffset
      if options.isStrict, let rejected = line.filling.rejects.first(where: { $0.status == .rejected }) {
        try line.finish()
        throw rejected.error(path: path)
      }
      if line.filling.isFull || line.filling.rejects.count >= options.batchSize {
        guard !operation.isCancelled else { return .stop }
        try line.handOver()
      }
      return .continue
    }
  }

  extension RejectedRow {
    /// The row as the error that ends a strict import.
    func error(path: String) -> ImportError {
      ImportError(.malformedRow, path: path, line: line, message: "The row can't be taken: \(reason).")
    }
  }
#endif
