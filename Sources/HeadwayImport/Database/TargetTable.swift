#if SQLite
import Foundation
import GRDB
import GRDBSQLite
import Headway
import HeadwayCSV

/// The table of one import in the database: finds or creates it, writes it, and completes it.
final class TargetTable: @unchecked Sendable {
  // `writer`, `hasFailed`, `identifier`, `foundRegion`, `hasEnded` and `widenings` are used only inside accesses to the
  // one writing connection, or when no access is active. The other properties do not change.

  let plan: TablePlan
  /// The plan of the table that is written.
  ///
  /// If rows are replaced, this is a temporary table whose rows are moved at the end.
  let storage: TablePlan
  let writer: TableWriter
  /// Descriptions of the changes to an existing table, for people.
  var schemaChanges: [String]
  /// Whether a batch could not be written.
  var hasFailed = false

  /// Whether rows of this import might already exist.
  ///
  /// They are then updated in place.
  var updates: Bool { places.updates }
  /// Whether the rows still wait to replace the existing rows.
  var isReplacing: Bool { places.isTemporary && !hasEnded }
  /// Whether triggers might reject rows when they replace existing rows.
  var mayRefuseAtEnd: Bool { places.originTable != nil }
  /// The numbers of existing rows that were replaced and removed.
  var replaced = 0
  var removed = 0
  /// A note that an append is completed, for people; nil if none is.
  var completion: String? {
    guard history.finished == nil else { return nil }
    return places.unfinished.map {
      "an earlier import of this file ended behind record \($0.records) and is completed"
    }
  }
  /// The number of rows that the table rejected in the part of an append that an earlier import had done.
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
  /// Whether the rows that are replaced are rows of the same file.
  let replacesOwn: Bool
  /// The identifier of the import's history entry; nil while it has changed nothing.
  var identifier: Int64?
  var hasEnded = false
  private var foundRegion: DatabaseRegion?
  /// The types of columns that were narrower when the import began, by column.
  var widenings: [Int: ColumnType] = [:]

  /// Creates the table, or adds missing columns if it exists.
  ///
  /// - Parameters:
  ///   - plan: The plan of the table.
  ///   - source: The source of the file's records.
  ///   - header: The names of the imported columns, as the file spells them.
  ///   - writtenKeys: The keys of rows that earlier files of the group have written.
  ///   - operation: The operation that imports the file.
  /// - Throws: ``ImportError`` with the code `foreignRows`, `unsuitableTable` or `database`.
  init(
    _ plan: TablePlan, _ source: RecordSource, header: [String], writtenKeys: KeySet, for operation: ImportOperation
  ) throws {
    var history = ImportHistory(target: plan.table, file: source.path, isRegular: source.size != nil)
    (history.run, history.finished) = (operation.run, operation.finishedEntry)
    let (size, options, group) = (source.size, operation.options, operation.group)
    let columns = options.requiresSchemaColumns ? operation.table.columns : []
    let (preparation, writer) = try operation.database.writeAndWait("prepare \(plan.table)") {
      [plan, history] connection in
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
    (replacesOwn, self.options) = (options.existingRowPolicy == .update || group?.replacesOwn == true, options)
    (self.history, self.columns, self.size) = (history, header, size)
    database = operation.database
  }

  /// The issue of a row that a constraint of the table rejects.
  func rejected(_ batch: RowBatch, _ row: RefusedRow) -> RowIssue {
    let references = preparation.references
    let isClear = row.reason == TablePlan.brokenReference && references.toTable.isEmpty && references.own.count == 1
    return RowIssue(
      table: plan.table, lineNumber: batch.origins[row.position].lineNumber,
      status: plan.isIgnored(row.reason) ? .ignored : .rejected,
      // SQLite uses the table's temporary name until its rows replace the existing rows.
      reason: isClear ? references.own[0].reason : row.reason.replacing(storage.table, with: plan.table),
      record: batch.record(of: row.position))
  }

  /// Stores the progress of batches, in the transaction that writes them.
  func note(_ advance: ImportHistory.Advance?, _ connection: Database) throws {
    guard let advance, let identifier else { return }
    try history.note(advance, of: identifier, connection)
  }

  /// The error for an append that can't be completed.
  func error(_ conflict: AppendConflict) -> ImportError {
    switch conflict {
    case .changedFile:
      history.cannotComplete("the first \(places.unfinished?.records ?? 0) records of the file have changed")
    case .missingRows: history.missingRows
    }
  }

  /// The region that observers of the table observe; nil while rows wait in a temporary table.
  ///
  /// It is determined once, on the writing connection, because SQLite compiles a statement for it.
  func region(_ connection: Database) throws -> DatabaseRegion? {
    guard !places.isTemporary else { return nil }
    if let foundRegion { return foundRegion }
    let region = try SQLRequest<Row>(sql: "SELECT * FROM \(SQL.name(storage.table))").databaseRegion(connection)
    foundRegion = region
    return region
  }

  // MARK: Types

  /// Widens columns whose types were found.
  ///
  /// This happens in the same transaction as the first row with a wider value.
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

  // MARK: Finishing

  /// Releases the statements and stores the outcome of the import, unless
  /// ``finish(lastRecord:rows:takesNone:mayGoOn:)`` has done so.
  ///
  /// This happens on the writing connection, because SQLite must not release statements while another thread uses the
  /// connection. An import without rows in the database has changed nothing.
  func close(isCancelled: Bool, rows: Int) {
    guard !hasEnded else { return }
    try? database.writeAndWait("close \(plan.table)") { [self] connection in
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
