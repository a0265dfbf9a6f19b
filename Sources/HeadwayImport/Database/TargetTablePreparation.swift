#if SQLite
import Foundation
import GRDB

/// How the table of an import was found, or made.
struct TargetTablePreparation: Sendable {
  /// The plan of the table that is written.
  private(set) var storage: TablePlan
  /// Where the rows go.
  private(set) var places = RowPlaces()
  /// By what the import is noted; nil while it changes nothing.
  private(set) var identifier: Int64?
  /// How many rows the table had, where those of this file are written anew.
  private(set) var rowsBefore = 0
  /// The names of the tables that were there, in lower case.
  private(set) var existingTables: Set<String> = []
  /// An import has made the table, this one or an earlier one.
  private(set) var isOwn = false
  /// This import has made the table.
  private(set) var hasMadeTable = false
  /// What has changed of a table that existed, for a person.
  private(set) var schemaChanges: [String] = []
  private var addedColumns: [String] = []
  private var addedIndex: String?

  /// Creates the table or, if it is there and an import has made it, adds the columns that it lacks, and finds out
  /// what becomes of its rows.
  ///
  /// In a transaction: nothing has changed if it throws.
  ///
  /// - Parameters:
  ///   - plan: The table.
  ///   - described: The columns that must have their types, if they are there.
  ///   - options: What becomes of the rows and columns that the table has.
  ///   - history: What is known of earlier imports.
  ///   - size: The size of the file, if it is known.
  ///   - header: The names of the file's columns.
  ///   - group: What the import shares with those of other files.
  ///   - connection: The writing connection.
  /// - Throws: ``ImportError`` with the code `foreignRows`, `unfinishedAppend`, `unknownColumn` or `unsuitableTable`,
  ///   or GRDB's `DatabaseError`.
  init(
    _ plan: TablePlan, _ described: [ColumnSchema], _ options: ImportOptions, _ history: ImportHistory, size: Int?,
    _ header: [String], _ group: FileGroup?, _ connection: Database
  ) throws {
    storage = plan
    let staged = group?.staged ?? []
    places.appends = options.existingRows == .append
    try connection.inTransaction(.immediate) {
      try createTable(plan, described, options, history, isOwn: staged.first?.preparation.isOwn, connection)
      let hasRows = try connection.hasRows(in: plan.table)
      if let last = staged.last {
        try stage(plan, behind: last, number: staged.count, connection)
      } else if hasRows || group?.replaces == true {
        try placeRows(plan, options, history, header, connection)
      } else if group != nil {
        // An earlier file may have written a row with the same key.
        places.updates = true
      } else if !places.appends {
        // In an append, a row with the same key might be another program's.
        places.emptyAtDataVersion = try connection.dataVersion()
      }
      guard !places.isTemporary else { return .commit }
      places.notesAdvance = places.appends || !plan.hasKey
      if let unfinished = places.unfinished {
        try history.takeOver(unfinished, connection)
        identifier = unfinished.identifier
      } else {
        identifier = try history.begin(
          size: size, columns: header, foundColumns: plan.foundColumns, beganEmpty: !hasRows,
          offset: places.offset ?? -1, lastRow: places.appends ? places.lastRowBefore : 0,
          startRow: places.lastRowBefore,
          rowsBefore: places.appends && !plan.hasKey && hasRows ? connection.rowCount(of: plan.table) : 0, connection)
      }
      if isOwn, hasMadeTable || !addedColumns.isEmpty {
        try ImportHistory.noteDefinition(of: plan.table, connection)
      }
      return .commit
    }
  }

  private mutating func createTable(
    _ plan: TablePlan, _ described: [ColumnSchema], _ options: ImportOptions, _ history: ImportHistory,
    isOwn knownAsOwn: Bool?, _ connection: Database
  ) throws {
    try requireFreeName(plan.table, path: history.file, connection)
    let existing = try ExistingTable(named: plan.table, connection)
    try existing?.requirePlaces(for: plan, path: history.file)
    try existing?.requireTypes(of: described, path: history.file)
    let tables = try String.fetchAll(connection, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    existingTables = Set(tables.map(\.lowercasedAsName))
    let key = plan.key.map { plan.columns[$0].name }
    hasMadeTable = existing == nil
    isOwn = try knownAsOwn ?? existing.map { try ImportHistory.hasMade($0, key: key, connection) } ?? true
    try ImportHistory.create(connection)
    guard let existing else {
      var parents = [plan.table.lowercasedAsName: key]
      for table in plan.columns.compactMap(\.reference?.table) where !table.isSameName(as: plan.table) {
        parents[table.lowercasedAsName] = try ExistingTable(named: table, connection)?.primaryKey
      }
      return try connection.execute(sql: SQL.createTable(plan, parents: parents))
    }
    let names = Set(existing.columnNames.map(\.lowercasedAsName))
    let missing = plan.columns.filter { !names.contains($0.name.lowercasedAsName) }
    if !missing.isEmpty, !isOwn, !options.addsColumns {
      throw ImportError(
        columns: missing.map(\.name), missingIn: existing, header: plan.columns.map(\.name), path: history.file)
    }
    // A key that the table lacks is one of no row, and an error.
    if let index = try existing.requireKey(of: plan, isOwn: isOwn, path: history.file, connection) {
      addedIndex = index
      schemaChanges.append("added the index \(index), which identifies the rows")
    }
    for column in missing { try connection.execute(sql: SQL.addColumn(column, to: plan.table)) }
    addedColumns = missing.map(\.name)
    guard !addedColumns.isEmpty else { return }
    let word = addedColumns.count == 1 ? "column" : "columns"
    schemaChanges.append("added the \(word) \(addedColumns.joined(separator: ", "))")
  }

  /// Takes back what was made of the table, where an import has no row in it.
  ///
  /// - Returns: Whether nothing is left to be noted of the import.
  func undo(_ plan: TablePlan, _ connection: Database) throws -> Bool {
    guard hasMadeTable || !addedColumns.isEmpty || addedIndex != nil else { return false }
    var isForgotten = false
    try connection.inTransaction(.immediate) {
      let table = "main.\(SQL.name(plan.table))"
      if hasMadeTable {
        // Another program may have found a use for it.
        guard try !connection.hasRows(in: plan.table) else { return .commit }
        try connection.execute(sql: "DROP TABLE \(table)")
      } else {
        if let addedIndex { try connection.execute(sql: "DROP INDEX IF EXISTS main.\(SQL.name(addedIndex))") }
        for column in addedColumns.map(SQL.name) {
          // Another program may have found a use for it.
          let used = try Row.fetchOne(connection, sql: "SELECT 1 FROM \(table) WHERE \(column) NOT NULL LIMIT 1")
          if used == nil { try connection.execute(sql: "ALTER TABLE \(table) DROP COLUMN \(column)") }
        }
        if isOwn { try ImportHistory.noteDefinition(of: plan.table, connection) }
      }
      if let identifier, places.unfinished == nil {
        try ImportHistory.forget(identifier, connection)
        isForgotten = true
      }
      return .commit
    }
    return isForgotten
  }

  private func requireFreeName(_ name: String, path: String, _ connection: Database) throws {
    func failure(_ reason: String) -> ImportError {
      ImportError(.unsuitableTable, path: path, message: "The table can't be called \(name): \(reason).")
    }
    guard !name.isEmpty else {
      throw ImportError(.unsuitableTable, path: path, message: "The table has no name.")
    }
    guard !name.lowercasedAsName.hasPrefix("sqlite_") else { throw failure("such names are SQLite's own") }
    guard !SQL.isReserved(name) else { throw failure("that is a name of the table of imports") }
    let isView = try Row.fetchOne(
      connection, sql: "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ? COLLATE NOCASE",
      arguments: [name])
    guard isView == nil else { throw failure("that is a view") }
  }

  /// Finds out where the rows of the file go, beside those that are there.
  private mutating func placeRows(
    _ plan: TablePlan, _ options: ImportOptions, _ history: ImportHistory, _ header: [String],
    _ connection: Database
  ) throws {
    switch options.existingRows {
    case .update:
      places.updates = true
      guard !plan.hasKey else { return }
      try history.requireOwnRows(
        rowIdentifier: plan.rowIdentifier, hasHeader: plan.hasHeader, connection)
      places.lastRowBefore = try connection.lastRow(of: plan.table, plan.rowIdentifier)
      rowsBefore = try connection.rowCount(of: plan.table)
      // Row by row, what a column had that the file has no more would stay, and a row be in conflict with the one
      // that it is about to follow.
      let isUnique = try ExistingTable(named: plan.table, connection)?.hasUniqueColumns == true
      if try isUnique || history.hadOtherColumns(header, connection) { try stage(plan, connection) }
    case .append:
      places.unfinished = options.completesAppend ? try history.unfinishedAppend(plan, connection) : nil
      guard !plan.hasKey else { return }
      places.lastRowBefore = try connection.lastRow(of: plan.table, plan.rowIdentifier)
      places.offset = places.unfinished.map(\.offset) ?? places.lastRowBefore
      guard places.lastRowBefore < Int.max / 2 else {
        throw ImportError(
          .unsuitableTable, path: history.file,
          message: "The rows of the table \(plan.table) can't be numbered further.")
      }
    case .replace:
      if !plan.hasKey { places.lastRowBefore = try connection.lastRow(of: plan.table, plan.rowIdentifier) }
      try stage(plan, connection)
    }
  }

  /// Puts the rows behind those of another file that wait.
  private mutating func stage(
    _ plan: TablePlan, behind last: StagedFile, number: Int, _ connection: Database
  ) throws {
    places = last.preparation.places
    (places.fileNumber, places.offset) = (number, last.lastRow)
    storage.table = last.preparation.storage.table
    let added = Set(addedColumns.map(\.lowercasedAsName))
    for column in plan.columns where added.contains(column.name.lowercasedAsName) {
      try connection.execute(sql: SQL.addColumn(column, to: storage.table))
    }
  }

  /// Removes the temporary tables, if there are any.
  func dropStage(_ connection: Database) {
    guard places.isTemporary else { return }
    for table in [storage.table, places.originTable].compactMap(\.self) {
      try? connection.execute(sql: "DROP TABLE IF EXISTS temp.\(SQL.name(table))")
    }
  }

  /// Makes the table in which rows wait until they take the place of others, with the constraints of that one.
  ///
  /// It is a temporary table of this connection: nothing is left of it, however the process ends.
  private mutating func stage(_ plan: TablePlan, _ connection: Database) throws {
    (places.updates, places.isTemporary) = (false, true)
    storage.table = "\(SQL.reservedPrefix)rows_\(UUID().uuidString)"
    guard let table = try ExistingTable(named: plan.table, connection) else { return }
    try table.copyDefinition(toTemporary: storage.table, connection)
    guard !table.isWithoutRowIdentifier, try ExistingTable.hasTriggers(plan.table, connection) else { return }
    let origins = "\(storage.table)_origins"
    places.originTable = origins
    try connection.execute(
      sql: """
        CREATE TEMP TABLE \(SQL.name(origins)) (number INTEGER PRIMARY KEY, file INTEGER, line INTEGER, record BLOB)
        """)
  }
}
#endif
