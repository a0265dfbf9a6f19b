#if SQLite
import Foundation
import GRDB

/// The result of preparing the table of an import, which existed or was created.
struct TargetTablePreparation: Sendable {
  /// The plan of the table that is written.
  private(set) var storage: TablePlan
  /// The places for the rows.
  private(set) var places = RowPlaces()
  /// The identifier of the import's history entry; nil while it changes nothing.
  private(set) var identifier: Int64?
  /// The number of rows in the table before the import, if the rows of this file are written again.
  private(set) var rowsBefore = 0
  /// The names of previously existing tables, in lower case.
  private(set) var existingTables: Set<String> = []
  /// Whether this import or an earlier one has created the table.
  private(set) var isOwn = false
  /// Whether this import has created the table.
  private(set) var hasMadeTable = false
  /// Descriptions of the changes to an existing table, for people.
  private(set) var schemaChanges: [String] = []
  /// The foreign keys that the rows must not violate.
  private(set) var references = EnforcedReferences()
  private var addedColumns: [String] = []
  private var addedIndex: String?

  /// Creates the table or adds missing columns to it and determines how existing rows are treated.
  ///
  /// Columns are added if an import has created the table, or if the options allow it. All changes are in one
  /// transaction; if this initializer throws, nothing has changed.
  ///
  /// - Parameters:
  ///   - plan: The plan of the table.
  ///   - described: The columns that must have the described types, if they exist.
  ///   - options: How to treat the existing rows and columns of the table.
  ///   - history: The history of earlier imports.
  ///   - size: The size of the file, if it is known.
  ///   - header: The file's column names.
  ///   - group: The state shared with the imports of other files.
  ///   - connection: The connection that writes.
  /// - Throws: ``ImportError`` with the code `foreignRows`, `unfinishedAppend`, `unknownColumn` or `unsuitableTable`,
  ///   or GRDB's `DatabaseError`.
  init(
    _ plan: TablePlan, _ described: [ColumnSchema], _ options: ImportOptions, _ history: ImportHistory, size: Int?,
    _ header: [String], _ group: FileGroup?, _ connection: Database
  ) throws {
    storage = plan
    let staged = group?.staged ?? []
    places.appends = options.existingRowPolicy == .append
    try connection.inTransaction(.immediate) {
      try createTable(plan, described, options, history, isOwn: staged.first?.preparation.isOwn, connection)
      references = try EnforcedReferences(of: plan.table, isOwn: isOwn, connection)
      let hasRows = try connection.hasRows(in: plan.table)
      if let last = staged.last {
        try stage(plan, behind: last, number: staged.count, connection)
      } else if hasRows || group?.replaces == true {
        try placeRows(plan, options, history, header, connection)
      } else if group != nil {
        // An earlier file might have written a row with the same key.
        places.updates = true
      } else if !options.existingRowPolicy.keepsRows {
        // Otherwise, a row with the same key might be another program's.
        places.emptyAtDataVersion = try connection.dataVersion()
      }
      guard !places.isTemporary else { return .commit }
      places.enforcesReferences = references.isEnforced
      places.notesAdvance = places.appends || !plan.hasKey
      if let unfinished = places.unfinished {
        try history.takeOver(unfinished, connection)
        identifier = unfinished.identifier
      } else {
        identifier = try history.begin(
          size: size, columns: header, inferredColumns: plan.inferredColumns, beganEmpty: !hasRows,
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
    // A key column that the table lacks has no value in any row. Such an import fails.
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

  /// Undoes the changes to the table, for an import that has no row in it.
  ///
  /// - Returns: Whether the history entry of the import was removed.
  func undo(_ plan: TablePlan, _ connection: Database) throws -> Bool {
    guard hasMadeTable || !addedColumns.isEmpty || addedIndex != nil else { return false }
    var isForgotten = false
    try connection.inTransaction(.immediate) {
      let table = "main.\(SQL.name(plan.table))"
      if hasMadeTable {
        // Another program might have started to use the table.
        guard try !connection.hasRows(in: plan.table) else { return .commit }
        try connection.execute(sql: "DROP TABLE \(table)")
      } else {
        if let addedIndex { try connection.execute(sql: "DROP INDEX IF EXISTS main.\(SQL.name(addedIndex))") }
        for column in addedColumns.map(SQL.name) {
          // Another program might have started to use the column.
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
      ImportError(.unsuitableTable, path: path, context: "The table can't be called \(name): \(reason).")
    }
    guard !name.isEmpty else {
      throw ImportError(.unsuitableTable, path: path, context: "The table has no name.")
    }
    guard !name.lowercasedAsName.hasPrefix("sqlite_") else { throw failure("such names are SQLite's own") }
    guard !SQL.isReserved(name) else { throw failure("the table of imports has this name") }
    let isView = try Row.fetchOne(
      connection, sql: "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ? COLLATE NOCASE",
      arguments: [name])
    guard isView == nil else { throw failure("that is a view") }
  }

  /// Determines the places for the rows from the file, if the table has rows.
  private mutating func placeRows(
    _ plan: TablePlan, _ options: ImportOptions, _ history: ImportHistory, _ header: [String],
    _ connection: Database
  ) throws {
    switch options.existingRowPolicy {
    case .update:
      places.updates = true
      guard !plan.hasKey else { return }
      try history.requireOwnRows(
        rowIdentifier: plan.rowIdentifier, hasHeader: plan.hasHeader, connection)
      places.lastRowBefore = try connection.lastRow(of: plan.table, plan.rowIdentifier)
      rowsBefore = try connection.rowCount(of: plan.table)
      // If rows were updated one by one, values of columns that the file no longer has would stay, and a row could
      // conflict with an old row that is updated only later.
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
          context: "The table \(plan.table) has no row numbers left.")
      }
    case .ignore: break
    case .replace:
      if !plan.hasKey { places.lastRowBefore = try connection.lastRow(of: plan.table, plan.rowIdentifier) }
      try stage(plan, connection)
    }
  }

  /// Places the rows after the waiting rows of another file.
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

  /// Creates a table with the same constraints, where rows wait until they replace the existing rows.
  ///
  /// It is a temporary table of this connection, so it disappears no matter how the process ends.
  private mutating func stage(_ plan: TablePlan, _ connection: Database) throws {
    (places.updates, places.isTemporary) = (false, true)
    storage.table = "\(SQL.reservedPrefix)rows_\(UUID().uuidString)"
    guard let table = try ExistingTable(named: plan.table, connection) else { return }
    try table.copyDefinition(toTemporary: storage.table, connection)
    let mayRefuse = try !references.own.isEmpty || ExistingTable.hasTriggers(plan.table, connection)
    guard !table.isWithoutRowIdentifier, mayRefuse else { return }
    let origins = "\(storage.table)_origins"
    places.originTable = origins
    try connection.execute(
      sql: """
        CREATE TEMP TABLE \(SQL.name(origins)) (number INTEGER PRIMARY KEY, file INTEGER, line INTEGER, record BLOB)
        """)
  }
}
#endif
