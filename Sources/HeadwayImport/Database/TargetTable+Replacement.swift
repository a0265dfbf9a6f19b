#if SQLite
import Foundation
import GRDB
import GRDBSQLite

extension TargetTable {
  /// Replaces the existing rows with the rows that wait in the temporary table.
  ///
  /// - Parameters:
  ///   - files: All files of the import. The current file is the last one.
  ///   - connection: The connection that writes.
  /// - Returns: The rows that triggers of the table reject, by file.
  /// - Throws: ``ImportError`` with the code `foreignRows`, `unsuitableTable` or `malformedRow`.
  func replaceRows(_ files: [StagedFile], _ connection: Database) throws -> [[RowIssue]] {
    let (table, stored) = (SQL.name(plan.table), "temp.\(SQL.name(storage.table))")
    if replacesOwn, try connection.lastRow(of: plan.table, plan.rowIdentifier) > places.lastRowBefore {
      throw ImportError(otherRowsIn: plan.table, path: history.file, hasKey: plan.hasKey)
    }
    let hasTriggers = try ExistingTable.hasTriggers(plan.table, connection)
    var refused = files.map { _ in [RowIssue]() }
    try refuseBrokenReferences(files, &refused, connection)
    try connection.execute(sql: "DELETE FROM main.\(table)")
    let before = connection.changesCount
    let left = try connection.rowCount(of: plan.table)
    guard left == 0 else { throw triggerError("keeps \(left.rows) of the existing rows") }
    var widened: [String: ColumnType] = [:]
    for file in files {
      for (column, type) in file.widenings {
        let name = file.plan.columns[column].name
        widened[widened.keys.first { $0.isSameName(as: name) } ?? name] = type
      }
    }
    try widenColumns(widened, isTemporary: false, connection)
    var known: Set<String> = []
    let names = files.flatMap(\.plan.columns).map(\.name).filter { known.insert($0.lowercasedAsName).inserted }
    var (moved, isMixed) = (0, false)
    if hasTriggers {
      (moved, isMixed) = try insertOneByOne(files, names, &refused, connection)
      isMixed = try isMixed || connection.rowCount(of: plan.table) != moved
    } else {
      let isNumbered = try ExistingTable(named: plan.table, connection)?.isWithoutRowIdentifier == false
      let statements = SQL.copyRows(
        names.map { (SQL.name($0), SQL.name($0)) }, from: stored, to: "main.\(table)",
        identifier: plan.hasKey ? nil : plan.rowIdentifier, orderedBy: isNumbered ? plan.rowIdentifier : nil)
      for sql in statements { try connection.execute(sql: sql) }
      moved = connection.changesCount
    }
    (replaced, removed) = (min(before, moved), max(0, before - moved))
    let lastRow = plan.hasKey ? 0 : try connection.lastRow(of: plan.table, plan.rowIdentifier)
    for (number, file) in files.enumerated() {
      let last = number == files.count - 1 ? lastRow : file.lastRow
      let header = ImportHistory.joined(file.columns)
      let identifier = try file.history.begin(
        size: file.size, columns: file.columns, inferredColumns: file.plan.inferredColumns, beganEmpty: number == 0,
        // Rows that triggers have added do not belong to the file.
        offset: isMixed ? -1 : file.preparation.places.offset ?? 0, lastRow: last,
        lastRowHash: plan.hasKey
          ? nil : try StoredRows(of: plan.table, header: header, connection)?.hash(ofRow: last, connection), connection)
      try file.history.end(identifier, .finished, rows: file.rows - refused[number].count, connection)
    }
    if preparation.isOwn { try ImportHistory.noteDefinition(of: plan.table, connection) }
    return refused
  }

  /// Removes waiting rows that violate a foreign key of the table.
  ///
  /// - Throws: ``ImportError`` with the code `brokenReferences`, if the rows have no numbers, or `malformedRow`.
  private func refuseBrokenReferences(
    _ files: [StagedFile], _ refused: inout [[RowIssue]], _ connection: Database
  ) throws {
    let keys = preparation.references.own
    guard !keys.isEmpty else { return }
    let stored = "temp.\(SQL.name(storage.table))"
    // A row might refer to one that was removed.
    var isComplete = false
    while !isComplete {
      isComplete = true
      for key in keys {
        let isBroken = key.isBroken("row", in: key.isInside ? stored : nil)
        guard let origins = places.originTable.map({ "temp.\(SQL.name($0))" }) else {
          let count = try Int.fetchOne(connection, sql: "SELECT count(*) FROM \(stored) AS row WHERE \(isBroken)") ?? 0
          guard count > 0 else { continue }
          throw ImportError(
            .brokenReferences, path: history.file,
            context: "\(count.rows) can't be imported. Nothing has changed: \(key.reason).")
        }
        let rows = try Row.fetchAll(
          connection,
          sql: """
            SELECT number, file, line, record FROM \(origins) WHERE number IN
              (SELECT row.\(plan.rowIdentifier) FROM \(stored) AS row WHERE \(isBroken)) ORDER BY number
            """)
        for row in rows {
          isComplete = false
          let rejected = RowIssue(
            table: plan.table, lineNumber: row[2], status: .rejected, reason: key.reason,
            record: Array((row[3] as Data?) ?? Data()))
          if options.stopsAtFirstMalformedRow { throw rejected.error(path: files[row[1]].history.file) }
          refused[row[1]].append(rejected)
          try connection.execute(
            sql: "DELETE FROM \(stored) WHERE \(plan.rowIdentifier) = ?", arguments: [row[0] as Int])
          try connection.execute(sql: "DELETE FROM \(origins) WHERE number = ?", arguments: [row[0] as Int])
        }
      }
    }
  }

  /// Inserts the waiting rows one by one, each in a savepoint, into a table with triggers.
  ///
  /// - Parameters:
  ///   - files: The files whose rows wait.
  ///   - names: The column names to copy.
  ///   - refused: Receives the rows that are rejected, by file.
  ///   - connection: The connection that writes.
  /// - Returns: The number of rows inserted, and whether SQLite has numbered them.
  /// - Throws: ``ImportError`` with the code `unsuitableTable` or `malformedRow`.
  private func insertOneByOne(
    _ files: [StagedFile], _ names: [String], _ refused: inout [[RowIssue]], _ connection: Database
  ) throws -> (moved: Int, isMixed: Bool) {
    guard let origins = places.originTable.map({ "temp.\(SQL.name($0))" }) else {
      throw triggerError("can reject rows, which have no numbers")
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
        // Reset explicitly, because GRDB does not reuse a failed statement.
        sqlite3_reset(insert.sqliteStatement)
        guard connection.isInsideTransaction else { throw triggerError("ends the transaction at a row") }
        guard let reason = plan.refusal(error.extendedResultCode, error.message) else { throw error }
        return reason
      }
    }
    // Queried for each row separately, because no statement may be active when a savepoint is rolled back.
    let next = try connection.makeStatement(
      sql: "SELECT number, file, line, record FROM \(origins) WHERE number > ? ORDER BY number LIMIT 1")
    var number = Int.min
    while let row = try Row.fetchOne(next, arguments: [number]) {
      number = row[0]
      try connection.execute(sql: "SAVEPOINT headway_row")
      var reason = try refusal(of: number)
      if reason == TablePlan.takenNumber, !isMixed {
        // A trigger has added a row in the place of this one.
        isMixed = true
        reason = try refusal(of: number)
      }
      if let reason {
        // Changes that a trigger made before it ignored the row are intended.
        if reason != plan.ignoredReason { try connection.execute(sql: "ROLLBACK TO headway_row") }
        let rejected = RowIssue(
          table: plan.table, lineNumber: row[2], status: .rejected, reason: reason,
          record: Array((row[3] as Data?) ?? Data()))
        if options.stopsAtFirstMalformedRow { throw rejected.error(path: files[row[1]].history.file) }
        refused[row[1]].append(rejected)
      } else {
        moved += 1
      }
      try connection.execute(sql: "RELEASE headway_row")
    }
    return (moved, isMixed)
  }

  func noRows(_ refused: [RowIssue]) -> ImportError {
    ImportError(
      .noRows, path: history.file,
      context: "\(refused.count.noneOfRows) be imported. The database is unchanged: \(refused[0].reason).")
  }

  private func triggerError(_ what: String) -> ImportError {
    ImportError(
      .unsuitableTable, path: history.file,
      context: "A trigger of the table \(plan.table) \(what), so that the rows of the file can't replace "
        + "the existing rows. Remove the trigger, or these rows.")
  }
}
#endif
