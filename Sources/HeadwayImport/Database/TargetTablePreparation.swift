#if SQLite
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
        if hasRows { try placeRows(plan, existingRows, history, connection) }
        if storage.table == plan.table {
          identifier = try history.begin(
            size: size, columns: header, beganEmpty: !hasRows, offset: offset, connection)
        }
        return .commit
      }
    }

    private mutating func createTable(
      _ plan: TablePlan, _ described: [ColumnSchema], _ history: ImportHistory, _ connection: Database
    ) throws {
      try requireFreeName(plan.table, path: history.source, connection)
      let existing = try ExistingTable(named: plan.table, connection)
      try existing?.requireTypes(of: described, path: history.source)
      let tables = try String.fetchAll(connection, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
      existingTables = Set(tables.map(\.lowercasedAsName))
      try ImportHistory.create(connection)
      try connection.execute(sql: SQL.createTable(plan, parents: existingTables.union([plan.table])))
      // Not asked through GRDB, which does not double a quote in a name.
      let columns = try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_table_info(?)", arguments: [plan.table])
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
      _ plan: TablePlan, _ existingRows: ImportOptions.ExistingRows, _ history: ImportHistory, _ connection: Database
    ) throws {
      switch existingRows {
      case .update:
        updates = true
        if !plan.hasKey { try history.requireOwnRows(rowIdentifier: plan.rowIdentifier, connection) }
      case .append:
        guard !plan.hasKey else { return }
        let resumed = try history.unfinishedAppend(rowIdentifier: plan.rowIdentifier, connection)
        updates = resumed != nil
        offset = try resumed ?? connection.lastRow(of: plan.table, plan.rowIdentifier)
      case .replace:
        storage.table = "\(plan.table) (headway import)"
        try connection.execute(sql: "DROP TABLE IF EXISTS \(SQL.name(storage.table))")
        try connection.execute(sql: SQL.createTable(storage, parents: existingTables.union([plan.table])))
      }
    }
  }
#endif
