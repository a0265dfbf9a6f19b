#if SQLite
import GRDB
import GRDBSQLite

extension TableWriter {
  /// The statements for rows that have values only in some columns, by these columns.
  struct PartialStatements {
    /// Checks whether a row's key is in the table; nil if rows are only inserted.
    let existing: Statement?
    var inserts: [[Int]: Statement] = [:]
    var updates: [[Int]: Statement] = [:]
  }

  /// Inserts a row, or updates the row with the same key, without touching columns that the row does not have.
  ///
  /// `INSERT … ON CONFLICT` can't update a row without a value for each column that must have one.
  ///
  /// - Returns: The reason why the table rejects the row; nil if the row was written.
  func writePartially(_ batch: RowBatch, _ row: Int, _ database: Database) throws -> String? {
    let values = batch.values + row * batch.columnCount
    let present = plan.columns.indices.filter { values[$0].kind != .absent }
    if let existing = partialStatements?.existing, try find(batch, row, existing, { _ in }) != nil {
      let changed = present.filter { !plan.columns[$0].isKey }
      guard !changed.isEmpty else { return nil }
      let statement =
        try partialStatements?.updates[changed] ?? database.makeStatement(sql: SQL.update(plan, columns: changed))
      partialStatements?.updates[changed] = statement
      return try execute(statement, changed + plan.key, batch, row)
    }
    let statement =
      try partialStatements?.inserts[present] ?? database.makeStatement(sql: SQL.insert(plan, columns: present))
    partialStatements?.inserts[present] = statement
    return try execute(statement, present, number: plan.hasKey ? nil : .some(rowNumber(batch, row)), batch, row)
  }

  /// The number of a new row in a table without a key; nil if SQLite numbers the rows.
  private func rowNumber(_ batch: RowBatch, _ row: Int) -> Int? {
    state.isMixed ? nil : number(ofRecord: batch.origins[row].recordNumber)
  }
}
#endif
