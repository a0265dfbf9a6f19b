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
  var schemaChanges: [String]
  /// A batch could not be written.
  var hasFailed = false

  /// Whether rows of this import may be there from before: then they are updated in place.
  var updates: Bool { places.updates }
  /// The rows are to take the place of others, and have not.
  var isReplacing: Bool { places.isTemporary && !hasEnded }
  /// Triggers may refuse rows when these replace others.
  var mayRefuseAtEnd: Bool { places.originTable != nil }
  /// How many rows, which the table had, are replaced, and removed.
  var replaced = 0
  var removed = 0
  /// That an append is completed, for a person.
  var completion: String? {
    guard history.finished == nil else { return nil }
    return places.unfinished.map {
      "an earlier import of this file ended behind record \($0.records), and is completed"
    }
  }
  /// How many rows of an append that was completed the table has refused before.
  var refusedBefore: Int { places.unfinished?.refused ?? 0 }

  let operation: ImportOperation
  let database: ImportDatabase
  let existingTables: Set<String>
  let history: ImportHistory
  let columns: [String]
  let size: Int?
  let options: ImportOptions
  let places: RowPlaces
  let preparation: TargetTablePreparation
  /// The rows that are replaced are those of the same file.
  let replacesOwn: Bool
  /// By what the import is noted; nil while it has changed nothing.
  var identifier: Int64?
  var hasEnded = false
  private var foundRegion: DatabaseRegion?
  /// By column, the types that columns have got, which were narrower when the import began.
  var widenings: [Int: ColumnType] = [:]

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

  func widenColumns(_ named: [String: ColumnType], isTemporary: Bool, _ connection: Database) throws {
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
}
#endif
