#if SQLite
import Foundation
import GRDB

extension TableWriter {
  /// The number of the row of a record, in a table without a key.
  func number(ofRecord ordinal: Int) -> Int { (places.offset ?? 0) + ordinal }

  /// Notes that some rows were written, of which this is the last, and what they brought with them.
  func noteWritten(
    _ batch: RowBatch, _ row: Int, count: Int, _ statements: Statements, _ database: Database
  ) throws {
    state.lastWritten =
      places.updates ? number(ofRecord: batch.origins[row].ordinal) : Int(database.lastInsertedRowID)
    if !state.hasWritten {
      state.hasWritten = true
      if let delete = statements.delete { for place in state.emptyPlaces { try remove(place, delete, database) } }
      state.emptyPlaces = IndexSet()
    }
    if let origin = statements.origin {
      let record = batch.recordBytes(of: row)
      try origin.execute(arguments: [state.lastWritten, places.fileNumber, batch.origins[row].line, Data(record)])
    }
    guard !plan.hasKey, let written = state.lastWritten else { return state.storedRows += count }
    let lastRow = state.lastRow
    state.lastRow = max(lastRow, written)
    guard statements.savepoint != nil, let last = statements.last else { return state.storedRows += count }
    // A trigger may have added rows before it and behind it.
    let found = try Int.fetchOne(last) ?? 0
    state.storedRows += try newRows(behind: lastRow, upTo: max(found, state.lastRow), statements.count)
    guard found > state.lastRow else { return }
    guard !places.updates else {
      throw ImportError(
        .unsuitableTable, path: plan.table,
        message: "A trigger adds rows to the table, so rows can't be matched by row number. Replace the rows, or use a "
          + "key.")
    }
    (state.lastRow, state.isMixed) = (found, true)
  }

  /// How many rows have numbers behind one, up to another; 0 if the rows of an earlier import are updated.
  func newRows(behind start: Int, upTo end: Int, _ count: Statement?) throws -> Int {
    guard !places.updates, let count else { return 0 }
    return try Int.fetchOne(count, arguments: [start, end]) ?? 0
  }

  /// Removes what an earlier import has put into a place; but not before there is a row that takes the place of
  /// others: a file without one changes nothing.
  func empty(_ place: Int, _ delete: Statement, _ database: Database) throws {
    // What is behind the rows that were there is of others.
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

  /// Notices rows that others have put behind those of this import, in the places of those to come.
  ///
  /// - Throws: ``OtherRows``, unless the rows can go behind those as well.
  func noticeOtherRows(_ batch: RowBatch, _ statements: Statements) throws {
    guard let last = statements.last, let found = try Int.fetchOne(last), found > state.lastRow else { return }
    if places.appends || state.isMixed {
      state.storedRows += try newRows(behind: state.lastRow, upTo: found, statements.count)
      (state.lastRow, state.isMixed) = (found, true)
    } else if !places.updates || number(ofRecord: batch.origins.last?.ordinal ?? 0) > state.lastRow {
      throw OtherRows()
    }
  }

  /// Makes sure that a row that has the key of another is a second one of the file: the table was empty, and nobody
  /// else has committed since.
  ///
  /// - Throws: ``OtherRows``.
  func requireOwnRows(_ database: Database) throws {
    guard let dataVersion = places.emptyAtDataVersion, try database.dataVersion() != dataVersion else { return }
    throw OtherRows()
  }

  // MARK: Completing an append

  /// The first row of a batch that is not in the table already.
  func skipPresentRows(_ batch: RowBatch, _ statements: Statements) throws -> Int {
    guard !state.isVerified, let unfinished = places.unfinished else { return 0 }
    let end = batch.origins.firstIndex { $0.ordinal > unfinished.records } ?? batch.count
    if let key = statements.key {
      for row in 0..<end where try find(batch, row, key, { _ in }) != nil { state.storedRows += 1 }
    }
    noteRecords(batch, upTo: end, refused: 0)
    if end < batch.count { try requirePresentRows() }
    return end
  }

  /// Makes sure that the rows that an append has found to be there are those of the file.
  ///
  /// - Throws: ``AppendConflict``.
  func requirePresentRows() throws {
    guard !state.isVerified, let unfinished = places.unfinished else { return }
    guard unfinished.recordsHash == nil || unfinished.recordsHash == state.fingerprint.value else {
      throw AppendConflict.changedFile
    }
    // With a key, those of the file were counted, and before that those of the table.
    guard state.storedRows >= unfinished.storedRows else { throw AppendConflict.missingRows }
    state.isVerified = true
  }

  /// Takes rows into the fingerprint.
  func noteRecords(_ batch: RowBatch, upTo end: Int, refused: Int) {
    guard places.notesAdvance else { return }
    for row in 0..<end where batch.origins[row].ordinal > state.records {
      state.fingerprint.combine(batch.recordBytes(of: row))
      state.records = batch.origins[row].ordinal
    }
    state.refused += refused
  }
}
#endif
