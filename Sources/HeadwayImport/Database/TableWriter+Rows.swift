#if SQLite
import Foundation
import GRDB

extension TableWriter {
  /// The number of the row of a record, in a table without a key.
  func number(ofRecord recordNumber: Int) -> Int { (places.offset ?? 0) + recordNumber }

  /// Records that some rows were written.
  ///
  /// Also removes the rows that were waiting to be removed, records the origin of the last row, and counts rows that
  /// triggers have added.
  func noteWritten(
    _ batch: RowBatch, _ row: Int, count: Int, _ statements: Statements, _ database: Database
  ) throws {
    state.lastWritten =
      places.updates ? number(ofRecord: batch.origins[row].recordNumber) : Int(database.lastInsertedRowID)
    if !state.hasWritten {
      state.hasWritten = true
      if let delete = statements.delete { for place in state.emptyPlaces { try remove(place, delete, database) } }
      state.emptyPlaces = IndexSet()
    }
    if let origin = statements.origin {
      let record = batch.recordBytes(of: row)
      try origin.execute(arguments: [state.lastWritten, places.fileNumber, batch.origins[row].lineNumber, Data(record)])
    }
    guard !plan.hasKey, let written = state.lastWritten else { return state.storedRows += count }
    let lastRow = state.lastRow
    state.lastRow = max(lastRow, written)
    guard statements.savepoint != nil, let last = statements.last else { return state.storedRows += count }
    // A trigger might have added rows before and after it.
    let found = try Int.fetchOne(last) ?? 0
    state.storedRows += try newRows(behind: lastRow, upTo: max(found, state.lastRow), statements.count)
    guard found > state.lastRow else { return }
    guard !places.updates else {
      throw ImportError(
        .unsuitableTable, path: plan.table,
        context: "A trigger adds rows to the table, so rows can't be matched by row number. Replace the rows, or use a "
          + "key.")
    }
    (state.lastRow, state.isMixed) = (found, true)
  }

  /// The number of rows after `start`, up to `end`; 0 if the rows of an earlier import are updated.
  func newRows(behind start: Int, upTo end: Int, _ count: Statement?) throws -> Int {
    guard !places.updates, let count else { return 0 }
    return try Int.fetchOne(count, arguments: [start, end]) ?? 0
  }

  /// Removes the row that an earlier import has put in a place.
  ///
  /// The row is not removed before the first row of this import is written, because a file without any accepted row
  /// changes nothing.
  func empty(_ place: Int, _ delete: Statement, _ database: Database) throws {
    // Rows after the rows that the earlier import has written belong to others.
    guard place <= places.lastRowBefore else { return }
    guard state.hasWritten else {
      state.emptyPlaces.insert(place)
      return
    }
    try remove(place, delete, database)
  }

  private func remove(_ place: Int, _ delete: Statement, _ database: Database) throws {
    try delete.execute(arguments: [place])
    state.removed += database.changesCount
  }

  /// Detects rows that other programs have added after the rows of this import, in the places of rows to come.
  ///
  /// - Throws: ``OtherRows``, unless the rows of the import can also follow those.
  func noticeOtherRows(_ batch: RowBatch, _ statements: Statements) throws {
    guard let last = statements.last, let found = try Int.fetchOne(last), found > state.lastRow else { return }
    if places.appends || state.isMixed {
      state.storedRows += try newRows(behind: state.lastRow, upTo: found, statements.count)
      (state.lastRow, state.isMixed) = (found, true)
    } else if !places.updates || number(ofRecord: batch.origins.last?.recordNumber ?? 0) > state.lastRow {
      throw OtherRows()
    }
  }

  /// Ensures that a row with the key of another row is a duplicate within the file: the table was empty, and no other
  /// connection has committed since.
  ///
  /// - Throws: ``OtherRows``.
  func requireOwnRows(_ database: Database) throws {
    guard let dataVersion = places.emptyAtDataVersion, try database.dataVersion() != dataVersion else { return }
    throw OtherRows()
  }

  // MARK: Completing an append

  /// Skips the rows of a batch that are already in the table.
  ///
  /// - Returns: The position of the first row that is not.
  func skipPresentRows(_ batch: RowBatch, _ statements: Statements) throws -> Int {
    guard !state.isVerified, let unfinished = places.unfinished else { return 0 }
    let end = batch.origins.firstIndex { $0.recordNumber > unfinished.records } ?? batch.count
    if let key = statements.key {
      for row in 0..<end where try find(batch, row, key, { _ in }) != nil { state.storedRows += 1 }
    }
    noteRecords(batch, upTo: end, refused: 0)
    if end < batch.count { try requirePresentRows() }
    return end
  }

  /// Ensures that the rows that an append has found in the table belong to the file.
  ///
  /// - Throws: ``AppendConflict``.
  func requirePresentRows() throws {
    guard !state.isVerified, let unfinished = places.unfinished else { return }
    guard unfinished.recordsHash == nil || unfinished.recordsHash == state.fingerprint.value else {
      throw AppendConflict.changedFile
    }
    // With a key, `storedRows` counts the rows from the file that exist; without a key, the rows in the table.
    guard state.storedRows >= unfinished.storedRows else { throw AppendConflict.missingRows }
    state.isVerified = true
  }

  /// Adds rows to the fingerprint.
  func noteRecords(_ batch: RowBatch, upTo end: Int, refused: Int) {
    guard places.notesAdvance else { return }
    for row in 0..<end where batch.origins[row].recordNumber > state.records {
      state.fingerprint.combine(batch.recordBytes(of: row))
      state.records = batch.origins[row].recordNumber
    }
    state.refused += refused
  }
}
#endif
