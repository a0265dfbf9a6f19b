#if SQLite
  import Foundation
  import GRDB
  import GRDBSQLite
  import Headway
  import HeadwayCSV

  /// The table of one import, in the database: created or met, written, and completed.
  final class TargetTable: @unchecked Sendable {
    // `writer`, `hasFailed`, `identifier`, `foundRegion`, `hasEnded` and `widenings` are used only inside accesses to
    // the one writing connection, or when none is under way; the rest does not change.

    let plan: TablePlan
    /// The plan of the table that is written: another one, to be moved at the end, where rows are replaced.
    let storage: TablePlan
    /// Whether rows of this import may be there from before: then rows are updated in place.
    let updates: Bool
    let writer: TableWriter
    /// A batch could not be written.
    var hasFailed = false

    /// The rows are to take the place of others, and have not.
    var isReplacing: Bool { storage.table != plan.table && !hasEnded }

    private let database: ImportDatabase
    private let existingTables: Set<String>
    private let history: ImportHistory
    private let columns: [String]
    private let size: Int?
    /// What is added to the number of a record.
    private let offset: Int
    /// The number of the last row when the import began, in a table without a key: what is behind that is somebody
    /// else's.
    private let lastRowBefore: Int
    /// The rows that are replaced are those of the same file.
    private let replacesOwn: Bool
    /// By what the import is noted; nil while it has changed nothing.
    private var identifier: Int64?
    private var hasEnded = false
    private var foundRegion: DatabaseRegion?
    /// By column, the types that columns have got, which were narrower when the import began.
    private var widenings: [Int: ColumnType] = [:]

    /// Creates the table or, if it is there, adds the columns that it lacks.
    ///
    /// - Throws: ``ImportError`` with the code `foreignRows`, `unsuitableTable` or `database`.
    init(
      _ plan: TablePlan, _ described: TableSchema, _ source: RecordSource, header: [String], _ options: ImportOptions,
      run: String?, in database: ImportDatabase
    ) throws {
      var history = ImportHistory(target: plan.table, file: source.path, isRegular: source.size != nil)
      history.run = run
      let size = source.size
      let columns = options.requiresDescribedColumns ? described.columns : []
      let (preparation, writer) = try database.writeAndWait { [plan, history] connection in
        let preparation = try TargetTablePreparation(
          plan, columns, options.existingRows, history, size: size, header, connection)
        let writer = try TableWriter(
          preparation.storage, updates: preparation.updates, offset: preparation.offset,
          foundEmptyAt: preparation.emptyAtDataVersion, connection)
        return (preparation, writer)
      }
      self.plan = plan
      self.writer = writer
      (storage, updates, offset) = (preparation.storage, preparation.updates, preparation.offset)
      (identifier, existingTables) = (preparation.identifier, preparation.existingTables)
      (lastRowBefore, replacesOwn) = (preparation.lastRowBefore, options.existingRows == .update)
      (self.history, self.columns, self.size) = (history, header, size)
      self.database = database
    }

    // MARK: References

    private var references: [(column: Int, reference: ColumnReference)] {
      plan.columns.enumerated().compactMap { position, column in
        guard column.field != nil, let reference = column.reference, reference.table != plan.table else { return nil }
        return (position, reference)
      }
    }

    /// By column, the keys to which it may refer.
    ///
    /// Read at the side of the writing.
    func knownKeys() throws -> [Int: KeySet] {
      var known: [Int: KeySet] = [:]
      for (column, reference) in references where existingTables.contains(reference.table.lowercasedAsName) {
        known[column] = try database.read { connection in
          var keys = KeySet()
          let statement = try connection.makeStatement(
            sql: "SELECT DISTINCT \(SQL.name(reference.column)) FROM \(SQL.name(reference.table))")
          let handle = statement.sqliteStatement
          let cursor = try Row.fetchCursor(statement)
          while try cursor.next() != nil {
            // As UTF-8, whatever the encoding of the database is.
            guard let text = sqlite3_column_text(handle, 0) else { continue }
            let bytes = UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, 0)))
            _ = keys.insert(KeySet.hash(bytes))
          }
          return keys
        }
      }
      return known
    }

    /// Says of references to tables that are not there that they were not checked, where columns have values.
    func uncheckedReferences() throws -> [String] {
      let unchecked = references.filter { !existingTables.contains($0.reference.table.lowercasedAsName) }
      return try unchecked.compactMap { column, reference in
        let (name, table) = (plan.columns[column].name, reference.table)
        // With the index that such a column has, this is one look.
        let value = try database.read {
          try Row.fetchOne(
            $0, sql: "SELECT 1 FROM \(SQL.name(plan.table)) WHERE \(SQL.name(name)) > '' LIMIT 1")
        }
        guard value != nil else { return nil }
        return "\(name) refers to \(table).\(reference.column), and there is no table \(table): not checked"
      }
    }

    /// Rows whose reference to this very table leads nowhere.
    func unresolved(_ selfReferences: [SelfReference]) throws -> [RejectedRow] {
      var rows: [RejectedRow] = []
      for selfReference in selfReferences {
        let unresolved = selfReference.unresolved
        guard !unresolved.isEmpty else { continue }
        let reference = selfReference.reference
        try database.read { connection in
          let statement = try connection.makeStatement(
            sql: "SELECT 1 FROM \(SQL.name(storage.table)) WHERE \(SQL.name(reference.column)) = ?")
          for entry in unresolved {
            let value = String(decoding: entry.value, as: UTF8.self)
            guard try Row.fetchOne(statement, arguments: [value]) == nil else { continue }
            rows.append(
              RejectedRow(
                table: plan.table, line: entry.line, status: .reported,
                reason: reference.missing(value, from: selfReference.columnName), record: entry.record))
          }
        }
      }
      return rows.sorted { $0.line < $1.line }
    }

    /// What the rejects say of a row that a constraint does not let in.
    func rejected(_ batch: RowBatch, _ row: RefusedRow) -> RejectedRow {
      RejectedRow(
        table: plan.table, line: batch.origins[row.position].line, status: .rejected,
        // SQLite knows the table by the name that it has until it takes the place of the other.
        reason: row.reason.replacing(storage.table, with: plan.table), record: batch.record(of: row.position))
    }

    /// Notes how far a batch has brought the import, in the transaction that writes the batch.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - refused: The rows that were not written, up to the first of which a strict import has gone.
    ///   - isStrict: It is one.
    ///   - connection: The writing connection.
    /// - Throws: GRDB's `DatabaseError`.
    func note(_ batch: RowBatch, without refused: [RefusedRow], isStrict: Bool, _ connection: Database) throws {
      guard !plan.hasKey, let identifier else { return }
      let left = Set(refused.map(\.position))
      let end = isStrict ? refused.first?.position ?? batch.count : batch.count
      let last = (0..<end).last { !left.contains($0) }
      guard let last else { return }
      try ImportHistory.note(lastRow: offset + batch.origins[last].ordinal, of: identifier, connection)
    }

    /// What those who observe the table observe, on the writing connection: found once, since SQLite compiles a
    /// statement for it.
    func region(_ connection: Database) throws -> DatabaseRegion {
      if let foundRegion { return foundRegion }
      let region = try SQLRequest<Row>(sql: "SELECT * FROM \(SQL.name(storage.table))").databaseRegion(connection)
      foundRegion = region
      return region
    }

    // MARK: Types

    /// Widens columns whose types were found, in the transaction that writes the first row that needs it.
    func widen(_ types: [Int: ColumnType], _ connection: Database) throws {
      guard !types.isEmpty else { return }
      widenings.merge(types) { $1 }
      try widenColumns(types, of: storage.table, connection)
    }

    private func widenColumns(_ types: [Int: ColumnType], of table: String, _ connection: Database) throws {
      guard !types.isEmpty else { return }
      let named = Dictionary(uniqueKeysWithValues: types.map { (plan.columns[$0.key].name, $0.value) })
      try ExistingTable(named: table, connection)?.widen(named, connection)
    }

    // MARK: The end

    /// Releases the statements, on the writing connection, since SQLite must not do so while another thread uses
    /// that; and notes how the import has ended, unless ``finish(lastRecord:rows:mayGoOn:)`` has.
    func close(isCancelled: Bool, rows: Int) {
      guard !hasEnded else { return }
      try? database.writeAndWait { [self] connection in
        writer.close()
        if storage.table != plan.table {
          try connection.execute(sql: "DROP TABLE IF EXISTS \(SQL.name(storage.table))")
        }
        if let identifier {
          try ImportHistory.end(identifier, isCancelled ? .cancelled : .failed, rows: rows, connection)
        }
      }
    }

    /// Moves rows that replace others, creates the indices and, in a table without a key, removes rows that an earlier
    /// import of the file has written and it does not have any more.
    ///
    /// - Parameters:
    ///   - lastRecord: The number of the file's last record.
    ///   - rows: How many rows were written.
    ///   - mayGoOn: Asked all along; when it says no, what is under way is given up.
    /// - Throws: ``ImportError`` with the code `database`.
    func finish(lastRecord: Int, rows: Int, mayGoOn: @escaping @Sendable () -> Bool) throws {
      try database.writeAndWait { [self] connection in
        writer.close()
        try connection.whileAsking(mayGoOn) {
          if storage.table != plan.table {
            try connection.inTransaction(.immediate) {
              try replaceRows(connection)
              return .commit
            }
          } else if !plan.hasKey, updates {
            try connection.execute(
              sql: "DELETE FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) > ? AND \(plan.rowIdentifier) <= ?",
              arguments: [offset + lastRecord, lastRowBefore])
          }
          for columns in plan.indices {
            try connection.execute(sql: SQL.createIndex(on: columns, of: plan.table))
          }
        }
        if let identifier { try ImportHistory.end(identifier, .finished, rows: rows, connection) }
        hasEnded = true
      }
    }

    /// Makes sure that no trigger of the table has ignored rows that were moved: they would be gone, and counted.
    ///
    /// - Throws: ``ImportError`` with the code `unsuitableTable`.
    private func requireAll(_ moved: Int, _ connection: Database) throws {
      guard try ExistingTable.mayIgnoreRows(plan.table, connection) else { return }
      let stored = try Int.fetchOne(connection, sql: "SELECT count(*) FROM \(SQL.name(storage.table))") ?? 0
      guard moved == stored else {
        throw ImportError(
          .unsuitableTable, path: history.source,
          message: "A trigger of the table \(plan.table) ignores \(stored - moved) rows, so that the others can't take "
            + "the place of those that are there. Remove the trigger, or those rows.")
      }
    }

    private func replaceRows(_ connection: Database) throws {
      let (table, stored) = (SQL.name(plan.table), SQL.name(storage.table))
      let columns = ((plan.hasKey ? [] : [plan.rowIdentifier]) + plan.columns.map { SQL.name($0.name) })
        .joined(separator: ", ")
      if replacesOwn, try connection.lastRow(of: plan.table, plan.rowIdentifier) > lastRowBefore {
        throw ImportError(otherRowsIn: plan.table, path: history.source, hasKey: plan.hasKey)
      }
      let isNumbered = try ExistingTable(named: plan.table, connection)?.isWithoutRowIdentifier == false
      let order = isNumbered ? " ORDER BY \(plan.rowIdentifier)" : ""
      try connection.execute(sql: "DELETE FROM \(table)")
      try widenColumns(widenings, of: plan.table, connection)
      try connection.execute(
        sql: "INSERT INTO \(table) (\(columns)) SELECT \(columns) FROM \(stored)\(order)")
      try requireAll(connection.changesCount, connection)
      try connection.execute(sql: "DROP TABLE \(stored)")
      let identifier = try history.begin(
        size: size, columns: self.columns, foundColumns: plan.foundColumns, beganEmpty: true, offset: 0,
        lastRow: plan.hasKey ? 0 : connection.lastRow(of: plan.table, plan.rowIdentifier), connection)
      self.identifier = identifier
    }
  }
#endif
