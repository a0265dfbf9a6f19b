#if SQLite
  import Foundation
  import GRDB

  /// How the table of an import was found, or made.
  struct TargetTablePreparation: Sendable {
    /// The plan of the table that is written.
    private(set) var storage: TablePlan
    /// Rows of this import may be there from before.
    private(set) var updates = false
    /// What is added to the number of a record.
    private(set) var offset = 0
    /// By what the import is noted; nil while it changes nothing.
    private(set) var identifier: Int64?
    /// The number of the last row that was there, in a table without a key.
    private(set) var lastRowBefore = 0
    /// SQLite's data version when the table was found empty, if it was.
    private(set) var emptyAtDataVersion: Int?
    /// The names of the tables that were there, in lower case.
    private(set) var existingTables: Set<String> = []

    /// Creates the table or, if it is there, adds the columns that it lacks, and finds out what becomes of its rows.
    ///
    /// In a transaction: nothing has changed if it throws.
    ///
    /// - Parameters:
    ///   - plan: The table.
    ///   - described: The columns that must have their types, if they are there.
    ///   - existingRows: What becomes of the rows that the table has.
    ///   - history: What is known of earlier imports.
    ///   - size: The size of the file, if it is known.
    ///   - header: The names of the file's columns.
    ///   - connection: The writing connection.
    /// - Throws: ``ImportError`` with the code `foreignRows` or `unsuitableTable`, or GRDB's `DatabaseError`.
    init(
      _ plan: TablePlan, _ described: [ColumnSchema], _ existingRows: ImportOptions.ExistingRows,
      _ history: ImportHistory, size: Int?,
      _ header: [String], _ connection: Database
    ) throws {
      storage = plan
      try connection.inTransaction(.immediate) {
        try createTable(plan, described, history, connection)
        let hasRows = try connection.hasRows(in: plan.table)
        if hasRows {
          try placeRows(plan, existingRows, history, header, connection)
        } else {
          emptyAtDataVersion = try connection.dataVersion()
        }
        if storage.table == plan.table {
          identifier = try history.begin(
            size: size, columns: header, foundColumns: plan.foundColumns, beganEmpty: !hasRows, offset: offset,
            lastRow: existingRows == .append ? lastRowBefore : 0, connection)
        }
        return .commit
      }
    }

    private mutating func createTable(
      _ plan: TablePlan, _ described: [ColumnSchema], _ history: ImportHistory, _ connection: Database
    ) throws {
      try requireFreeName(plan.table, path: history.source, connection)
      let existing = try ExistingTable(named: plan.table, connection)
      try existing?.requirePlaces(for: plan, path: history.source)
      try existing?.requireTypes(of: described, path: history.source)
      let tables = try String.fetchAll(connection, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
      existingTables = Set(tables.map(\.lowercasedAsName))
      try ImportHistory.create(connection)
      var parents = [plan.table.lowercasedAsName: plan.key.map { plan.columns[$0].name }]
      for table in plan.columns.compactMap(\.reference?.table) where !table.isSameName(as: plan.table) {
        parents[table.lowercasedAsName] = try ExistingTable(named: table, connection)?.primaryKey
      }
      try connection.execute(sql: SQL.createTable(plan, parents: parents))
      // Not asked through GRDB, which does not double a quote in a name.
      let columns = try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [plan.table])
      let names = Set(columns.map(\.lowercasedAsName))
      for column in plan.columns where !names.contains(column.name.lowercasedAsName) {
        try connection.execute(sql: SQL.addColumn(column, to: plan.table))
      }
      try existing?.requireKey(of: plan, path: history.source, connection)
    }

    private func requireFreeName(_ name: String, path: String, _ connection: Database) throws {
      func failure(_ reason: String) -> ImportError {
        ImportError(.unsuitableTable, path: path, message: "The table can't be called \(name): \(reason).")
      }
      guard !name.lowercasedAsName.hasPrefix("sqlite_") else { throw failure("such names are SQLite's own") }
      guard !name.isSameName(as: ImportHistory.table) else { throw failure("that is the table of imports") }
      let isView = try Row.fetchOne(
        connection, sql: "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ? COLLATE NOCASE",
        arguments: [name])
      guard isView == nil else { throw failure("that is a view") }
    }

    /// Finds out where the rows of the file go, beside those that are there.
    private mutating func placeRows(
      _ plan: TablePlan, _ existingRows: ImportOptions.ExistingRows, _ history: ImportHistory, _ header: [String],
      _ connection: Database
    ) throws {
      switch existingRows {
      case .update:
        updates = true
        guard !plan.hasKey else { return }
        try history.requireOwnRows(
          rowIdentifier: plan.rowIdentifier, hasHeader: plan.hasHeader, connection)
        lastRowBefore = try connection.lastRow(of: plan.table, plan.rowIdentifier)
        // Row by row, what a column had that the file has no more would stay, and a row be in conflict with the one
        // that it is about to follow.
        let isUnique = try ExistingTable(named: plan.table, connection)?.hasUniqueColumns == true
        if try isUnique || history.hadOtherColumns(header, connection) { try stage(plan, connection) }
      case .append:
        guard !plan.hasKey else { return }
        let resumed = try history.unfinishedAppend(rowIdentifier: plan.rowIdentifier, connection)
        updates = resumed != nil
        lastRowBefore = try connection.lastRow(of: plan.table, plan.rowIdentifier)
        offset = resumed ?? lastRowBefore
        guard offset < Int.max / 2 else {
          throw ImportError(
            .unsuitableTable, path: history.source,
            message: "The rows of the table \(plan.table) can't be numbered further.")
        }
      case .replace:
        try stage(plan, connection)
      }
    }

    /// Makes the table in which rows wait until they take the place of others, with the constraints of that one.
    ///
    /// Its name is that of this process and moment; those of processes that were killed are removed.
    private mutating func stage(_ plan: TablePlan, _ connection: Database) throws {
      updates = false
      let prefix = "\(plan.table) (headway import "
      let names = try String.fetchAll(connection, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
      for name in names where name.hasPrefix(prefix) {
        let process = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }) ?? getpid()
        if kill(process, 0) != 0, errno == ESRCH { try connection.execute(sql: "DROP TABLE \(SQL.name(name))") }
      }
      storage.table = "\(prefix)\(getpid()) \(UInt32.random(in: 0 ... .max)))"
      try ExistingTable(named: plan.table, connection)?.copyDefinition(to: storage.table, connection)
    }
  }
#endif
