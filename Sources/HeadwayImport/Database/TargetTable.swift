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
    let writer: TableWriter
    /// What an import should know of the table, for a person.
    private(set) var notes: [String]
    /// A batch could not be written.
    var hasFailed = false

    /// Whether rows of this import may be there from before: then they are updated in place.
    var updates: Bool { places.updates }
    /// The rows are to take the place of others, and have not.
    var isReplacing: Bool { places.isTemporary && !hasEnded }
    /// How many rows, which the table had, are replaced, and removed.
    private(set) var replaced = 0
    private(set) var removed = 0
    /// How many rows of an append that was completed the table has refused before.
    var refusedBefore: Int { places.unfinished?.refused ?? 0 }

    private let database: ImportDatabase
    private let existingTables: Set<String>
    private let history: ImportHistory
    private let columns: [String]
    private let size: Int?
    private let places: RowPlaces
    private let preparation: TargetTablePreparation
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
        let preparation = try TargetTablePreparation(plan, columns, options, history, size: size, header, connection)
        do {
          let writer = try TableWriter(
            preparation.storage, preparation.places, header: ImportHistory.joined(header), connection)
          return (preparation, writer)
        } catch {
          _ = try? preparation.undo(plan, connection)
          throw error
        }
      }
      self.plan = plan
      self.writer = writer
      (self.preparation, notes) = (preparation, preparation.notes)
      (storage, places) = (preparation.storage, preparation.places)
      (identifier, existingTables) = (preparation.identifier, preparation.existingTables)
      replacesOwn = options.existingRows == .update
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
        rows += try readStored { [storage, plan] connection in
          var rows: [RejectedRow] = []
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
          return rows
        }
      }
      return rows.sorted { $0.line < $1.line }
    }

    /// Reads the rows of this import; a temporary table is seen by the writing connection alone.
    private func readStored<Answer: Sendable>(
      _ body: @escaping @Sendable (Database) throws -> Answer
    ) throws -> Answer {
      places.isTemporary ? try database.writeAndWait(body) : try database.read(body)
    }

    /// What the rejects say of a row that a constraint does not let in.
    func rejected(_ batch: RowBatch, _ row: RefusedRow) -> RejectedRow {
      RejectedRow(
        table: plan.table, line: batch.origins[row.position].line, status: .rejected,
        // SQLite knows the table by the name that it has until it takes the place of the other.
        reason: row.reason.replacing(storage.table, with: plan.table), record: batch.record(of: row.position))
    }

    /// Notes how far batches have brought the import, in the transaction that writes them.
    func note(_ advance: ImportHistory.Advance?, _ connection: Database) throws {
      guard let advance, let identifier else { return }
      try history.note(advance, of: identifier, connection)
    }

    /// The error of an append that can't be completed, because the file has other records at its beginning.
    var changedFile: ImportError {
      history.cannotComplete("the first \(places.unfinished?.records ?? 0) records of the file have changed")
    }

    /// What those who observe the table observe, on the writing connection: found once, since SQLite compiles a
    /// statement for it; nil while rows are put aside.
    func region(_ connection: Database) throws -> DatabaseRegion? {
      guard !places.isTemporary else { return nil }
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
      try widenColumns(types, isTemporary: places.isTemporary, connection)
    }

    private func widenColumns(_ types: [Int: ColumnType], isTemporary: Bool, _ connection: Database) throws {
      guard !types.isEmpty else { return }
      let named = Dictionary(uniqueKeysWithValues: types.map { (plan.columns[$0.key].name, $0.value) })
      let table = isTemporary ? storage.table : plan.table
      guard let existing = try ExistingTable(named: table, isTemporary: isTemporary, connection) else { return }
      let changes = try existing.widen(named, connection)
      guard !isTemporary, !changes.isEmpty else { return }
      if preparation.isOwn { try ImportHistory.noteDefinition(of: plan.table, connection) }
      guard !preparation.hasMadeTable else { return }
      for (column, type) in changes.sorted(by: { $0.key < $1.key }) {
        let note = "the column \(column) has become \(type.rawValue), for values that are no such numbers as before"
        if !notes.contains(note) { notes.append(note) }
      }
    }

    // MARK: The end

    /// Releases the statements, on the writing connection, since SQLite must not do so while another thread uses
    /// that; and notes how the import has ended, unless ``finish(lastRecord:rows:mayGoOn:)`` has.
    ///
    /// An import of which no row is in the database has changed nothing.
    func close(isCancelled: Bool, rows: Int) {
      guard !hasEnded else { return }
      try? database.writeAndWait { [self] connection in
        writer.close()
        if places.isTemporary { try? connection.execute(sql: "DROP TABLE IF EXISTS temp.\(SQL.name(storage.table))") }
        if rows == 0 || places.isTemporary, try preparation.undo(plan, connection) { return }
        if let identifier {
          try history.end(identifier, isCancelled ? .cancelled : .failed, rows: rows, connection)
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
    /// - Throws: ``ImportError`` with the code `database` or `unfinishedAppend`.
    func finish(lastRecord: Int, rows: Int, mayGoOn: @escaping @Sendable () -> Bool) throws {
      try database.writeAndWait { [self] connection in
        do { try writer.requirePresentRows() } catch is ChangedFile { throw changedFile }
        writer.close()
        try connection.whileAsking(mayGoOn) {
          try connection.inTransaction(.immediate) {
            if places.isTemporary {
              try replaceRows(connection)
            } else if !plan.hasKey, updates {
              try connection.execute(
                sql:
                  "DELETE FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) > ? AND \(plan.rowIdentifier) <= ?",
                arguments: [lastRecord, places.lastRowBefore])
              removed = writer.removed + connection.changesCount
              replaced = preparation.rowsBefore - removed
            }
            try createIndices(connection)
            if let identifier { try history.end(identifier, .finished, rows: rows, connection) }
            return .commit
          }
        }
        hasEnded = true
      }
    }

    private func createIndices(_ connection: Database) throws {
      for columns in plan.indices {
        let index = SQL.index(on: columns, of: plan.table, isOwn: preparation.isOwn)
        let known = try Row.fetchOne(
          connection, sql: "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ? COLLATE NOCASE",
          arguments: [index])
        guard known == nil else { continue }
        try connection.execute(
          sql: "CREATE INDEX \(SQL.name(index)) ON \(SQL.name(plan.table)) (\(SQL.names(columns)))")
        if !preparation.isOwn { notes.append("the table has got the index \(index)") }
      }
    }

    private func replaceRows(_ connection: Database) throws {
      let (table, stored) = (SQL.name(plan.table), "temp.\(SQL.name(storage.table))")
      if replacesOwn, try connection.lastRow(of: plan.table, plan.rowIdentifier) > places.lastRowBefore {
        throw ImportError(otherRowsIn: plan.table, path: history.source, hasKey: plan.hasKey)
      }
      let hasTriggers = try ExistingTable.hasTriggers(plan.table, connection)
      let isNumbered = try ExistingTable(named: plan.table, connection)?.isWithoutRowIdentifier == false
      let order = isNumbered ? " ORDER BY \(plan.rowIdentifier)" : ""
      func insert(numbering isNumbering: Bool) throws {
        let names = (isNumbering ? [plan.rowIdentifier] : []) + plan.columns.map { SQL.name($0.name) }
        let columns = names.joined(separator: ", ")
        try connection.execute(sql: "INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM \(stored)\(order)")
      }
      var (before, moved, isMixed) = (0, 0, false)
      do {
        try connection.execute(sql: "DELETE FROM main.\(table)")
        before = connection.changesCount
        let left = try connection.rowCount(of: plan.table)
        guard left == 0 else { throw triggerError("keeps \(left.rows) of those that are there") }
        try widenColumns(widenings, isTemporary: false, connection)
        do { try insert(numbering: !plan.hasKey) } catch let error as DatabaseError
          where hasTriggers && !plan.hasKey && connection.isInsideTransaction
          && [.SQLITE_CONSTRAINT_ROWID, .SQLITE_CONSTRAINT_PRIMARYKEY].contains(error.extendedResultCode)
        {
          // A trigger adds rows, which take numbers.
          isMixed = true
          try insert(numbering: false)
        }
        moved = connection.changesCount
      } catch let error as DatabaseError where hasTriggers && error.resultCode == .SQLITE_CONSTRAINT {
        throw triggerError("refuses a row (\(error.message ?? "\(error.extendedResultCode)"))")
      }
      if hasTriggers {
        let stored = try Int.fetchOne(connection, sql: "SELECT count(*) FROM \(stored)") ?? 0
        guard moved == stored else { throw triggerError("ignores \((stored - moved).rows)") }
        isMixed = try isMixed || connection.rowCount(of: plan.table) != moved
      }
      try connection.execute(sql: "DROP TABLE \(stored)")
      (replaced, removed) = (min(before, moved), max(0, before - moved))
      let last = plan.hasKey ? 0 : try connection.lastRow(of: plan.table, plan.rowIdentifier)
      let header = ImportHistory.joined(self.columns)
      identifier = try history.begin(
        size: size, columns: self.columns, foundColumns: plan.foundColumns, beganEmpty: true,
        // The rows of triggers are not the file's.
        offset: isMixed ? -1 : 0, lastRow: last,
        lastRowHash: plan.hasKey
          ? nil : try StoredRows(of: plan.table, header: header, connection)?.hash(ofRow: last, connection), connection)
    }

    private func triggerError(_ what: String) -> ImportError {
      ImportError(
        .unsuitableTable, path: history.source,
        message: "A trigger of the table \(plan.table) \(what), so that the rows of the file can't take the place of "
          + "those that are there. Remove the trigger, or those rows.")
    }
  }
#endif
