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
      let records = try RecordSource(path: path, options: options)
      let header = try records.requireHeader()
      operation.opened(records, FileForm(records, columns: header))
      let (table, existingColumns) = try database.completed(operation.table, header: header)
      var plan = try TablePlan(
        table, header: header, path: path, requiresDescribedColumns: options.requiresDescribedColumns)
      (plan.existingColumns, plan.hasHeader) = (existingColumns, options.hasHeader)
      guard plan.hasKey || SQL.hasRowIdentifier(besideColumns: header + existingColumns) else {
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
      var encoder = RowEncoder(plan, known: try target.knownKeys(), remembersKeys: target.updates)
      let line = BatchLine(operation, target)
      // When reading fails, what was read before is written before the operation ends.
      defer { line.waitForAll() }

      try records.forEach { record in
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
      operation.noteUnchecked(try target.uncheckedReferences())
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
