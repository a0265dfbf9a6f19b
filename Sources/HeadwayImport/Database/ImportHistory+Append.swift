#if SQLite
  import GRDB
  import GRDBSQLite

  /// An import that added rows behind others and ended early: the next one of the same file completes it.
  struct UnfinishedAppend: Sendable {
    /// By what it is noted.
    let identifier: Int64
    /// The number of the last record that it has dealt with: its row is in the table, or was refused there.
    let records: Int
    /// The fingerprint of the records up to there that were rows; nil if an earlier version has noted them.
    let recordsHash: Int64?
    /// How many of these rows the table has refused.
    let refused: Int
    /// What is added to the number of a record to get that of its row; nil if rows of others are between.
    let offset: Int?
  }

  extension ImportHistory {
    /// The last append of this file, if it did not come to its end and its rows are there.
    ///
    /// - Throws: ``ImportError`` with the code `unfinishedAppend`, if it can't be known which rows are missing.
    func unfinishedAppend(_ plan: TablePlan, _ database: Database) throws -> UnfinishedAppend? {
      let entries = try entries(sinceEmpty: false, database)
      guard isRegular, let last = entries.last(where: { $0.source == source }),
        last.outcome != Outcome.finished.rawValue
      else { return nil }
      let isLast = try plan.hasKey || database.lastRow(of: target, plan.rowIdentifier) == last.lastRow
      guard let records = last.records else {
        // An earlier version: it noted the numbers of rows alone.
        guard !plan.hasKey, last.lastRow > last.offset else { return nil }
        guard entries.last?.source == source, isLast else { throw cannotComplete("the table has got rows since") }
        return UnfinishedAppend(
          identifier: last.identifier, records: last.lastRow - last.offset, recordsHash: nil, refused: 0,
          offset: last.offset)
      }
      guard records > 0 else { return nil }
      // It has written rows anew, one after the other, of which the old ones are still there.
      if !plan.hasKey, last.offset == 0, !last.beganEmpty {
        throw cannotComplete("it was to update the rows that are there; import the file in the same way again")
      }
      let stored = try StoredRows(of: target, header: last.columns, database)
      if let hash = last.lastRowHash, try stored?.contains(hash, number: last.lastRow, database) != true {
        // With a key, what is there is found by that.
        if plan.hasKey { return nil }
        throw cannotComplete("the last row that it added is not in the table any more")
      }
      return UnfinishedAppend(
        identifier: last.identifier, records: records, recordsHash: last.recordsHash, refused: last.refused,
        offset: isLast && last.offset >= 0 ? last.offset : nil)
    }

    /// That an append can't be completed.
    func cannotComplete(_ reason: String) -> ImportError {
      ImportError(
        .unfinishedAppend, path: source,
        message: "An earlier import of this file into the table \(target) ended early, and which rows are missing "
          + "can't be known: \(reason). To add all rows of the file, import a copy with another name.")
    }

    /// Takes over an append that ended early: should its process still be there, that can't add any more.
    func takeOver(_ append: UnfinishedAppend, _ database: Database) throws {
      try database.execute(
        sql: "UPDATE \(Self.table) SET outcome = 'running', ended = NULL, owner = ?, run = ? WHERE id = ?",
        arguments: [owner, run, append.identifier])
    }
  }

  /// The values of the columns that a file has, of a row in a table.
  struct StoredRows {
    private let table: String
    private let columns: [String]
    /// Nil in a table without row numbers.
    private let rowIdentifier: String?

    /// - Parameters:
    ///   - table: The table.
    ///   - header: The names of the file's columns as the history has them, separated by commas. A name with a comma
    ///     counts as none, here as everywhere.
    ///   - database: Any connection.
    init?(of table: String, header: String, _ database: Database) throws {
      guard let existing = try ExistingTable(named: table, database) else { return nil }
      let names = Set(header.split(separator: ",").map { String($0).lowercasedAsName })
      self.table = existing.name
      columns = existing.storedColumnNames.filter { names.contains($0.lowercasedAsName) }
      rowIdentifier =
        existing.isWithoutRowIdentifier ? nil : SQL.rowIdentifier(besideColumns: existing.columnNames)
    }

    private var selection: String {
      "SELECT \(columns.isEmpty ? "NULL" : SQL.names(columns)) FROM \(SQL.name(table))"
    }

    /// The fingerprint of a row's values as text, which stays the same when a column gets a wider type; nil if there is
    /// no such row.
    func hash(ofRow number: Int, _ database: Database) throws -> Int64? {
      guard let rowIdentifier else { return nil }
      let statement = try database.cachedStatement(sql: "\(selection) WHERE \(rowIdentifier) = ?")
      let rows = try Row.fetchCursor(statement, arguments: [number])
      return try rows.next() == nil ? nil : hash(statement)
    }

    /// Whether a row has these values: the one with this number or, after VACUUM, another one.
    func contains(_ hash: Int64, number: Int, _ database: Database) throws -> Bool {
      guard try self.hash(ofRow: number, database) != hash else { return true }
      let statement = try database.makeStatement(sql: selection)
      let rows = try Row.fetchCursor(statement)
      while try rows.next() != nil { if self.hash(statement) == hash { return true } }
      return false
    }

    private func hash(_ statement: Statement) -> Int64 {
      var fingerprint = Fingerprint()
      let handle = statement.sqliteStatement
      for column in 0..<Int32(statement.columnCount) {
        guard let text = sqlite3_column_text(handle, column) else {
          fingerprint.combineNone()
          continue
        }
        fingerprint.combine(UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column))))
      }
      return fingerprint.value
    }
  }
#endif
