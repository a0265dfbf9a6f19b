#if SQLite
import GRDB

extension TargetTable {
  /// Completes the import: replaces existing rows with the rows that wait, creates the indices, and removes old rows.
  ///
  /// In a table without a key, the old rows are those that an earlier import of the file has written, and that the file
  /// no longer has. If several files replace rows together, their rows wait until the last of these imports finishes.
  ///
  /// - Parameters:
  ///   - lastRecord: The number of the file's last record.
  ///   - rows: The number of rows written.
  ///   - takesNone: Whether the file has rows and all of them were rejected. In that case the existing rows stay,
  ///     because no row of the file can replace them.
  ///   - mayGoOn: Called repeatedly; when it returns false, the current work is interrupted.
  /// - Returns: The imports whose rows have replaced others, with the rows that triggers have rejected in the process.
  /// - Throws: ``ImportError`` with the code `database`, `unfinishedAppend`, `malformedRow` or `noRows`.
  func finish(
    lastRecord: Int, rows: Int, takesNone: Bool, mayGoOn: @escaping @Sendable () -> Bool
  ) throws -> [(operation: ImportOperation, refused: [RowIssue])] {
    try database.writeAndWait("finish \(plan.table)") { [self] connection in
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
      var refused: [[RowIssue]] = files.map { _ in [] }
      try connection.whileAsking(mayGoOn) {
        try connection.inTransaction(.immediate) {
          let mayRemove = places.isTemporary || (!plan.hasKey && updates)
          let orphans = mayRemove ? try preparation.references.orphanCounts(connection) : []
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
          if mayRemove {
            try preparation.references.requireNoOrphans(
              since: orphans, except: operation.tablesReplacedTogether, path: history.file, connection)
          }
          try createIndices(connection)
          if let identifier, keepsRows, updates {
            // The rows in the table belong to earlier imports.
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

  /// Creates the description of the file, whose rows wait.
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
}
#endif
