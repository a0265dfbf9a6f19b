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
  /// What has changed of a table that existed, for a person.
  private(set) var schemaChanges: [String]
  /// A batch could not be written.
  var hasFailed = false

  /// Whether rows of this import may be there from before: then they are updated in place.
  var updates: Bool { places.updates }
  /// The rows are to take the place of others, and have not.
  var isReplacing: Bool { places.isTemporary && !hasEnded }
  /// Triggers may refuse rows when these replace others.
  var mayRefuseAtEnd: Bool { places.originTable != nil }
  /// How many rows, which the table had, are replaced, and removed.
  private(set) var replaced = 0
  private(set) var removed = 0
  /// That an append is completed, for a person.
  var completion: String? {
    guard history.finished == nil else { return nil }
    return places.unfinished.map {
      "an earlier import of this file ended behind record \($0.records), and is completed"
    }
  }
  /// How many rows of an append that was completed the table has refused before.
  var refusedBefore: Int { places.unfinished?.refused ?? 0 }

  private let operation: ImportOperation
  private let database: ImportDatabase
  private let existingTables: Set<String>
  private let history: ImportHistory
  private let columns: [String]
  private let size: Int?
  private let options: ImportOptions
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
  /// - Parameters:
  ///   - plan: The table.
  ///   - source: The file.
  ///   - header: The names of its columns that are imported.
  ///   - writtenKeys: The keys of rows that earlier files of the group have written.
  ///   - operation: The import.
  /// - Throws: ``ImportError`` with the code `foreignRows`, `unsuitableTable` or `database`.
  init(
    _ plan: TablePlan, _ source: RecordSource, header: [String], writtenKeys: KeySet, for operation: ImportOperation
  ) throws {
    var history = ImportHistory(target: plan.table, file: source.path, isRegular: source.size != nil)
    (history.run, history.finished) = (operation.run, operation.finishedEntry)
    let (size, options, group) = (source.size, operation.options, operation.group)
    let columns = options.requiresDescribedColumns ? operation.table.columns : []
    let (preparation, writer) = try operation.database.writeAndWait { [plan, history] connection in
      let preparation = try TargetTablePreparation(
        plan, columns, options, history, size: size, header, group, connection)
      do {
        let writer = try TableWriter(
          preparation.storage, preparation.places, header: ImportHistory.joined(header), writtenKeys: writtenKeys,
          connection)
        return (preparation, writer)
      } catch {
        _ = try? preparation.undo(plan, connection)
        throw error
      }
    }
    self.operation = operation
    self.plan = plan
    self.writer = writer
    (self.preparation, schemaChanges) = (preparation, preparation.schemaChanges)
    (storage, places) = (preparation.storage, preparation.places)
    (identifier, existingTables) = (preparation.identifier, preparation.existingTables)
    (replacesOwn, self.options) = (options.existingRows == .update || group?.replacesOwn == true, options)
    (self.history, self.columns, self.size) = (history, header, size)
    database = operation.database
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

  /// The error of an append that can't be completed.
  func error(_ conflict: AppendConflict) -> ImportError {
    switch conflict {
    case .changedFile:
      history.cannotComplete("the first \(places.unfinished?.records ?? 0) records of the file have changed")
    case .missingRows: history.missingRows
    }
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
    let named = Dictionary(uniqueKeysWithValues: types.map { (plan.columns[$0.key].name, $0.value) })
    try widenColumns(named, isTemporary: places.isTemporary, connection)
  }

  private func widenColumns(_ named: [String: ColumnType], isTemporary: Bool, _ connection: Database) throws {
    guard !named.isEmpty else { return }
    let table = isTemporary ? storage.table : plan.table
    guard let existing = try ExistingTable(named: table, isTemporary: isTemporary, connection) else { return }
    let changes = try existing.widen(named, connection)
    guard !isTemporary, !changes.isEmpty else { return }
    if preparation.isOwn { try ImportHistory.noteDefinition(of: plan.table, connection) }
    guard !preparation.hasMadeTable, operation.group?.staged.first?.preparation.hasMadeTable != true else { return }
    for (column, type) in changes.sorted(by: { $0.key < $1.key }) {
      let note = "the column \(column) is now \(type.rawValue), because its former type does not keep all values"
      if !schemaChanges.contains(note) { schemaChanges.append(note) }
    }
  }

  // MARK: The end

  /// Releases the statements, on the writing connection, since SQLite must not do so while another thread uses
  /// that; and notes how the import has ended, unless ``finish(lastRecord:rows:keepsRows:mayGoOn:)`` has.
  ///
  /// An import of which no row is in the database has changed nothing.
  func close(isCancelled: Bool, rows: Int) {
    guard !hasEnded else { return }
    try? database.writeAndWait { [self] connection in
      writer.close()
      preparation.dropStage(connection)
      if rows == 0 || places.isTemporary {
        let isForgotten = try preparation.undo(plan, connection)
        schemaChanges = []
        if isForgotten { return }
      }
      if let identifier {
        try history.end(identifier, isCancelled ? .cancelled : .failed, rows: rows, connection)
      }
    }
  }

  /// Moves rows that replace others, creates the indices and, in a table without a key, removes rows that an earlier
  /// import of the file has written and it does not have any more.
  ///
  /// If the rows replace others together with those of other files, they wait until the last of these ends.
  ///
  /// - Parameters:
  ///   - lastRecord: The number of the file's last record.
  ///   - rows: How many rows were written.
  ///   - takesNone: Whether the file has rows of which the table cannot have a single one. Then the rows that were
  ///     there stay, because none of the file can take their place.
  ///   - mayGoOn: Asked all along; when it says no, what is under way is given up.
  /// - Returns: By the imports whose rows have replaced others, those that triggers have refused then.
  /// - Throws: ``ImportError`` with the code `database`, `unfinishedAppend`, `malformedRow` or `noRows`.
  func finish(
    lastRecord: Int, rows: Int, takesNone: Bool, mayGoOn: @escaping @Sendable () -> Bool
  ) throws -> [(operation: ImportOperation, refused: [RejectedRow])] {
    try database.writeAndWait { [self] connection in
      do { try writer.requirePresentRows() } catch let conflict as AppendConflict { throw error(conflict) }
      writer.close()
      var files: [StagedFile] = []
      if places.isTemporary {
        let file = try stagedFile(rows: rows, takesNone: takesNone, connection)
        if let group = operation.group {
          guard let all = group.stage(file) else {
            hasEnded = true
            return []
          }
          files = all
        } else {
          files = [file]
        }
      }
      let stagedRows = files.reduce(0) { $0 + $1.rows }
      let keepsRows = files.isEmpty ? takesNone : stagedRows == 0 && files.contains(where: \.takesNone)
      var refused: [[RejectedRow]] = files.map { _ in [] }
      try connection.whileAsking(mayGoOn) {
        try connection.inTransaction(.immediate) {
          if places.isTemporary, !keepsRows {
            refused = try replaceRows(files, connection)
            let all = refused.flatMap(\.self)
            if !all.isEmpty, all.count == stagedRows {
              guard options.allowsNoRows else { throw noRows(all) }
              (replaced, removed) = (0, 0)
              return .rollback
            }
          } else if !keepsRows, !plan.hasKey, updates {
            try connection.execute(
              sql:
                "DELETE FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) > ? AND \(plan.rowIdentifier) <= ?",
              arguments: [lastRecord, places.lastRowBefore])
            removed = writer.removed + connection.changesCount
            replaced = preparation.rowsBefore - removed
          }
          try createIndices(connection)
          if let identifier, keepsRows, updates {
            // The rows are those of earlier imports.
            try ImportHistory.forget(identifier, connection)
          } else if let identifier {
            try history.end(identifier, .finished, rows: rows, connection)
          }
          return .commit
        }
      }
      hasEnded = true
      if places.isTemporary { operation.group?.commit() }
      preparation.dropStage(connection)
      return zip(files, refused).map { ($0.operation, $1) }
    }
  }

  /// The file, whose rows wait.
  private func stagedFile(rows: Int, takesNone: Bool, _ connection: Database) throws -> StagedFile {
    StagedFile(
      operation: operation, plan: plan, preparation: preparation, history: history, size: size, columns: columns,
      lastRow: plan.hasKey ? 0 : try connection.lastRow(of: storage.table, plan.rowIdentifier), widenings: widenings,
      rows: rows, takesNone: takesNone)
  }

  private func createIndices(_ connection: Database) throws {
    for columns in plan.indices {
      let index = SQL.index(on: columns, of: plan.table, isOwn: preparation.isOwn)
      let known = try Row.fetchOne(
        connection, sql: "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ? COLLATE NOCASE",
        arguments: [index])
      guard known == nil else { continue }
      try connection.execute(sql: SQL.createIndex(index, on: columns, of: plan.table))
      if !preparation.isOwn { schemaChanges.append("added the index \(index)") }
    }
  }

  /// Puts the rows that wait in the temporary table in the place of those that are there.
  ///
  /// - Parameters:
  ///   - files: The files, of which this one is the last.
  ///   - connection: The writing connection.
  /// - Returns: By file, rows that triggers of the table refuse.
  /// - Throws: ``ImportError`` with the code `foreignRows`, `unsuitableTable` or `malformedRow`.
  private func replaceRows(_ files: [StagedFile], _ connection: Database) throws -> [[RejectedRow]] {
    let (table, stored) = (SQL.name(plan.table), "temp.\(SQL.name(storage.table))")
    if replacesOwn, try connection.lastRow(of: plan.table, plan.rowIdentifier) > places.lastRowBefore {
      throw ImportError(otherRowsIn: plan.table, path: history.file, hasKey: plan.hasKey)
    }
    let hasTriggers = try ExistingTable.hasTriggers(plan.table, connection)
    try connection.execute(sql: "DELETE FROM main.\(table)")
    let before = connection.changesCount
    let left = try connection.rowCount(of: plan.table)
    guard left == 0 else { throw triggerError("keeps \(left.rows) of those that are there") }
    var widened: [String: ColumnType] = [:]
    for file in files {
      for (column, type) in file.widenings {
        let name = file.plan.columns[column].name
        widened[widened.keys.first { $0.isSameName(as: name) } ?? name] = type
      }
    }
    try widenColumns(widened, isTemporary: false, connection)
    var names: [String] = []
    for column in files.flatMap(\.plan.columns) where !names.contains(where: { $0.isSameName(as: column.name) }) {
      names.append(column.name)
    }
    var (moved, isMixed, refused) = (0, false, files.map { _ in [RejectedRow]() })
    if hasTriggers {
      (moved, isMixed) = try insertOneByOne(files, names, &refused, connection)
      isMixed = try isMixed || connection.rowCount(of: plan.table) != moved
    } else {
      let columns = ((plan.hasKey ? [] : [plan.rowIdentifier]) + names.map(SQL.name)).joined(separator: ", ")
      let isNumbered = try ExistingTable(named: plan.table, connection)?.isWithoutRowIdentifier == false
      let order = isNumbered ? " ORDER BY \(plan.rowIdentifier)" : ""
      try connection.execute(sql: "INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM \(stored)\(order)")
      moved = connection.changesCount
    }
    (replaced, removed) = (min(before, moved), max(0, before - moved))
    let lastRow = plan.hasKey ? 0 : try connection.lastRow(of: plan.table, plan.rowIdentifier)
    for (number, file) in files.enumerated() {
      let last = number == files.count - 1 ? lastRow : file.lastRow
      let header = ImportHistory.joined(file.columns)
      let identifier = try file.history.begin(
        size: file.size, columns: file.columns, foundColumns: file.plan.foundColumns, beganEmpty: number == 0,
        // The rows of triggers are not the file's.
        offset: isMixed ? -1 : file.preparation.places.offset ?? 0, lastRow: last,
        lastRowHash: plan.hasKey
          ? nil : try StoredRows(of: plan.table, header: header, connection)?.hash(ofRow: last, connection), connection)
      try file.history.end(identifier, .finished, rows: file.rows - refused[number].count, connection)
    }
    if preparation.isOwn { try ImportHistory.noteDefinition(of: plan.table, connection) }
    return refused
  }

  /// Inserts the rows that wait one after the other, each in a savepoint, into a table with triggers.
  ///
  /// - Parameters:
  ///   - files: The files.
  ///   - names: The columns.
  ///   - refused: Receives, by file, the rows that are refused.
  ///   - connection: The writing connection.
  /// - Returns: How many rows were inserted, and whether SQLite has numbered them.
  /// - Throws: ``ImportError`` with the code `unsuitableTable` or `malformedRow`.
  private func insertOneByOne(
    _ files: [StagedFile], _ names: [String], _ refused: inout [[RejectedRow]], _ connection: Database
  ) throws -> (moved: Int, isMixed: Bool) {
    guard let origins = places.originTable.map({ "temp.\(SQL.name($0))" }) else {
      throw triggerError("may refuse rows, which have no numbers")
    }
    let columns = SQL.names(names)
    let stored = "temp.\(SQL.name(storage.table)) WHERE \(plan.rowIdentifier) = :row"
    let insert = try connection.makeStatement(
      sql: plan.hasKey
        ? "INSERT INTO main.\(SQL.name(plan.table)) (\(columns)) SELECT \(columns) FROM \(stored)"
        : """
        INSERT INTO main.\(SQL.name(plan.table)) (\(plan.rowIdentifier), \(columns))
        SELECT :number, \(columns) FROM \(stored)
        """)
    var (moved, isMixed) = (0, false)
    func refusal(of row: Int) throws -> String? {
      do {
        try insert.execute(
          arguments: plan.hasKey ? ["row": row] : ["row": row, "number": isMixed ? nil : row])
        return connection.changesCount == 0 ? plan.ignoredReason : nil
      } catch let error as DatabaseError {
        // GRDB does not use a failed statement again.
        sqlite3_reset(insert.sqliteStatement)
        guard connection.isInsideTransaction else { throw triggerError("ends the transaction at a row") }
        guard let reason = plan.refusal(error.extendedResultCode, error.message) else { throw error }
        return reason
      }
    }
    // Asked for each row, because no statement may be under way when one is taken back.
    let next = try connection.makeStatement(
      sql: "SELECT number, file, line, record FROM \(origins) WHERE number > ? ORDER BY number LIMIT 1")
    var number = Int.min
    while let row = try Row.fetchOne(next, arguments: [number]) {
      number = row[0]
      try connection.execute(sql: "SAVEPOINT headway_row")
      var reason = try refusal(of: number)
      if reason == TablePlan.takenNumber, !isMixed {
        // A trigger has added a row where this was to be.
        isMixed = true
        reason = try refusal(of: number)
      }
      if let reason {
        // What a trigger did before it ignored the row is what it is for.
        if reason != plan.ignoredReason { try connection.execute(sql: "ROLLBACK TO headway_row") }
        let rejected = RejectedRow(
          table: plan.table, line: row[2], status: .rejected, reason: reason,
          record: Array((row[3] as Data?) ?? Data()))
        if options.isStrict { throw rejected.error(path: files[row[1]].history.file) }
        refused[row[1]].append(rejected)
      } else {
        moved += 1
      }
      try connection.execute(sql: "RELEASE headway_row")
    }
    return (moved, isMixed)
  }

  private func noRows(_ refused: [RejectedRow]) -> ImportError {
    ImportError(
      .noRows, path: history.file,
      message: "\(refused.count.noneOfRows) be imported. The database is unchanged: \(refused[0].reason).")
  }

  private func triggerError(_ what: String) -> ImportError {
    ImportError(
      .unsuitableTable, path: history.file,
      message: "A trigger of the table \(plan.table) \(what), so that the rows of the file can't take the place of "
        + "those that are there. Remove the trigger, or those rows.")
  }
}
#endif
