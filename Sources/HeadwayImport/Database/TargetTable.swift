#if SQLite
  import Foundation
  import GRDB
  import Headway

  /// The table of one import, in the database: created or met, written, and completed.
  final class TargetTable: @unchecked Sendable {
    // `writer` and `hasFailed` are used only inside accesses to the one writing connection; the rest does not change.

    let plan: TablePlan
    /// Whether there were rows before this import: then rows are updated in place.
    let hasRows: Bool
    let writer: TableWriter
    /// A batch could not be written.
    var hasFailed = false

    private let database: ImportDatabase
    private let existingTables: Set<String>

    /// Creates the table or, if it is there, adds the columns that it lacks.
    init(_ plan: TablePlan, in database: ImportDatabase) throws {
      let prepared = try database.writeAndWait { [plan] connection in
        let tables = Set(
          try String.fetchAll(connection, sql: "SELECT lower(name) FROM sqlite_master WHERE type = 'table'"))
        try connection.execute(sql: SQL.createTable(plan, parents: tables.union([plan.table])))
        // Not asked through GRDB, which does not double a quote in a name.
        let columns = Set(
          try String.fetchAll(connection, sql: "SELECT lower(name) FROM pragma_table_info(?)", arguments: [plan.table]))
        for column in plan.columns where !columns.contains(column.name.lowercased()) {
          try connection.execute(sql: SQL.addColumn(column, to: plan.table))
        }
        let hasRows = try Row.fetchOne(connection, sql: "SELECT 1 FROM \(SQL.name(plan.table)) LIMIT 1") != nil
        return (try TableWriter(plan, updates: hasRows, connection), hasRows, tables)
      }
      (writer, hasRows, existingTables) = prepared
      self.plan = plan
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
      for (column, reference) in references where existingTables.contains(reference.table.lowercased()) {
        known[column] = try database.read { connection in
          var keys = KeySet()
          let cursor = try Row.fetchCursor(
            connection,
            sql: "SELECT DISTINCT \(SQL.name(reference.column)) FROM \(SQL.name(reference.table))")
          while let row = try cursor.next() {
            try row.withUnsafeData(atIndex: 0) { data in
              _ = data?.withUnsafeBytes { keys.insert(KeySet.hash($0)) }
            }
          }
          return keys
        }
      }
      return known
    }

    /// Says of references to tables that are not there that they were not checked.
    var uncheckedReferences: [RejectedRow] {
      references.filter { !existingTables.contains($0.reference.table.lowercased()) }.map { column, reference in
        let (name, table) = (plan.columns[column].name, reference.table)
        let reason = "\(name) refers to \(table).\(reference.column), and there is no table \(table): not checked"
        return RejectedRow(table: plan.table, line: 1, status: .reported, reason: reason, record: [])
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
            sql: "SELECT 1 FROM \(SQL.name(reference.table)) WHERE \(SQL.name(reference.column)) = ?")
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

    /// What the rejects say of a row whose key is there.
    func duplicate(_ batch: RowBatch, _ row: Int) -> RejectedRow {
      RejectedRow(
        table: plan.table, line: batch.origins[row].line, status: .rejected,
        reason: plan.duplicateReason, record: batch.record(of: row))
    }

    // MARK: The end

    /// Lets go of the statements, on the writing connection: SQLite must not do so while another thread uses that.
    func close() {
      guard !writer.isClosed else { return }
      try? database.writeAndWait { [writer] _ in writer.close() }
    }

    /// Creates the indices and, in a table without a key, removes rows that the file does not have.
    ///
    /// - Parameters:
    ///   - lastRecord: The number of the file's last record.
    ///   - mayGoOn: Asked all along; when it says no, what is under way is given up.
    /// - Throws: ``ImportError`` with the code `database`.
    func finish(lastRecord: Int, mayGoOn: @escaping @Sendable () -> Bool) throws {
      try database.writeAndWait { [plan, hasRows, writer] connection in
        writer.close()
        try connection.whileAsking(mayGoOn) {
          if !plan.hasKey, hasRows {
            try connection.execute(
              sql: "DELETE FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) > ?",
              arguments: [lastRecord])
          }
          for columns in plan.indices {
            try connection.execute(sql: SQL.createIndex(on: columns, of: plan.table))
          }
        }
      }
    }
  }
#endif
