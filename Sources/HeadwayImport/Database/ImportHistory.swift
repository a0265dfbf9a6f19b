#if SQLite
  import Foundation
  import GRDB
  import Headway
  import HeadwayLines

  /// What the database's table of imports, `headway_imports`, knows of one table: which files have written its rows.
  ///
  /// In a table without a key, the record with number *n* of a file is the row with number `offset` + *n*. By the last
  /// of these numbers the history tells rows that an import has written from those of others, which come behind it.
  ///
  /// Used inside accesses to the writing connection, in the transactions that write the rows.
  struct ImportHistory {
    static let table = "headway_imports"

    /// One import.
    struct Entry {
      let source: String
      let offset: Int
      let lastRow: Int
      let outcome: String
      /// The names of the file's columns, separated by commas.
      let columns: String
    }

    enum Outcome: String { case running, finished, cancelled, failed }

    let target: String
    /// The path of the file, without links; of one in an archive, the path of that and the name in it.
    let source: String

    /// Whether what is read from there again is the same: a pipe has one name for whatever comes through it.
    let isRegular: Bool

    /// By what the imports of one run are known, if rows are appended.
    var run: String?

    init(target: String, file: String, isRegular: Bool) {
      (self.target, self.isRegular) = (target, isRegular)
      let inArchive = ArchivePath(file)
      let named = inArchive?.archive ?? file
      let path =
        named.hasForeignBytes
        ? FileSystem.resolved(named) ?? named
        : URL(fileURLWithPath: named).standardizedFileURL.resolvingSymlinksInPath().path
      source = inArchive.map { "\(path)/\($0.entry)" } ?? path
    }

    static func create(_ database: Database) throws {
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS \(table) (
            id INTEGER PRIMARY KEY, "table" TEXT NOT NULL COLLATE NOCASE, source TEXT NOT NULL, size INTEGER,
            columns TEXT NOT NULL, started TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, ended TEXT,
            outcome TEXT NOT NULL DEFAULT 'running', rows INTEGER NOT NULL DEFAULT 0,
            began_empty INTEGER NOT NULL, row_offset INTEGER NOT NULL, last_row INTEGER NOT NULL DEFAULT 0, run TEXT,
            found_columns TEXT NOT NULL DEFAULT '[]')
          """)
      // Earlier versions had none.
      let columns = Set(try database.columns(in: table).map(\.name))
      if !columns.contains("run") { try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN run TEXT") }
      guard !columns.contains("found_columns") else { return }
      try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN found_columns TEXT NOT NULL DEFAULT '[]'")
    }

    /// The names of a table's columns whose types were found, and not described.
    static func foundColumns(of target: String, _ database: Database) throws -> [String] {
      let isKnown =
        try Row.fetchOne(
          database, sql: "SELECT 1 FROM pragma_table_info(?) WHERE name = 'found_columns'", arguments: [table]) != nil
      guard isKnown else { return [] }
      let last = try String.fetchOne(
        database, sql: "SELECT found_columns FROM \(table) WHERE \"table\" = ? ORDER BY id DESC LIMIT 1",
        arguments: [target])
      return try last.map { try JSONDecoder().decode([String].self, from: Data($0.utf8)) } ?? []
    }

    /// The imports since the table was empty, or was replaced, the oldest first; none if that is not known.
    func entries(_ database: Database) throws -> [Entry] {
      guard try database.tableExists(Self.table) else { return [] }
      return try Row.fetchAll(
        database,
        sql: """
          SELECT source, row_offset, last_row, outcome, columns FROM \(Self.table) WHERE "table" = :target AND id >=
            (SELECT max(id) FROM \(Self.table) WHERE "table" = :target AND began_empty) ORDER BY id
          """, arguments: ["target": target]
      ).map {
        Entry(
          source: $0["source"], offset: $0["row_offset"], lastRow: $0["last_row"], outcome: $0["outcome"],
          columns: $0["columns"])
      }
    }

    /// Makes sure that this file, and no other, has written all rows of the table, record *n* as row *n*.
    ///
    /// - Throws: ``ImportError`` with the code `foreignRows`.
    func requireOwnRows(rowIdentifier: String, hasHeader: Bool, _ database: Database) throws {
      let entries = try entries(database)
      guard isRegular, entries.allSatisfy({ $0.source == source && $0.offset == 0 }),
        try hasRows(of: entries, rowIdentifier: rowIdentifier, hasHeader: hasHeader, database)
      else { throw otherRows }
    }

    /// Makes sure that these files, and no others, have written all rows of a table, one behind the other.
    ///
    /// - Throws: ``ImportError`` with the code `foreignRows`.
    static func requireOwnRows(
      of files: [(path: String, isRegular: Bool)], in target: String, rowIdentifier: String, hasHeader: Bool,
      _ database: Database
    ) throws {
      let histories = files.map { ImportHistory(target: target, file: $0.path, isRegular: $0.isRegular) }
      guard let first = histories.first else { return }
      let (entries, sources) = (try first.entries(database), Set(histories.map(\.source)))
      guard histories.allSatisfy(\.isRegular), entries.allSatisfy({ sources.contains($0.source) }),
        try first.hasRows(of: entries, rowIdentifier: rowIdentifier, hasHeader: hasHeader, database)
      else { throw first.otherRows }
    }

    /// Whether the table's rows are those of these imports.
    private func hasRows(
      of entries: [Entry], rowIdentifier: String, hasHeader: Bool, _ database: Database
    ) throws -> Bool {
      // Record 1 of these files is the header. A row 1 is from elsewhere, or VACUUM has numbered the rows anew.
      let hasRowOne = try Row.fetchOne(
        database, sql: "SELECT 1 FROM \(SQL.name(target)) WHERE \(rowIdentifier) = 1")
      // What was imported before the last that came to its end is gone, where it was more.
      let last = entries.lastIndex { $0.outcome == Outcome.finished.rawValue } ?? 0
      return try !entries.isEmpty && (hasRowOne == nil || !hasHeader)
        && database.lastRow(of: target, rowIdentifier) <= entries[last...].map(\.lastRow).max() ?? 0
    }

    private var otherRows: ImportError {
      ImportError(
        .foreignRows, path: source,
        message: "The table \(target) has rows that this file did not write, and no key by which to update them.")
    }

    /// Whether an import was of a file with other columns.
    func hadOtherColumns(_ header: [String], _ database: Database) throws -> Bool {
      try entries(database).contains { $0.columns != header.joined(separator: ",") }
    }

    /// The offset of the last import, if that has added rows of this file behind others and did not come to its end.
    ///
    /// - Throws: ``ImportError`` with the code `foreignRows`, if others have been added since.
    func unfinishedAppend(rowIdentifier: String, _ database: Database) throws -> Int? {
      let entries = try entries(database)
      guard isRegular, let last = entries.last(where: { $0.source == source }),
        last.outcome != Outcome.finished.rawValue
      else { return nil }
      guard entries.last?.source == source, try database.lastRow(of: target, rowIdentifier) == last.lastRow else {
        throw ImportError(
          .foreignRows, path: source,
          message:
            "An import of this file ended early, and the table \(target) has got rows since that it did not write.")
      }
      return last.offset
    }

    /// Notes that an import begins.
    ///
    /// - Returns: By what it is noted.
    func begin(
      size: Int?, columns: [String], foundColumns: [String], beganEmpty: Bool, offset: Int, lastRow: Int,
      _ database: Database
    ) throws -> Int64 {
      let earlier = Set(try Self.foundColumns(of: target, database))
      let found = String(decoding: try JSONEncoder().encode(earlier.union(foundColumns).sorted()), as: UTF8.self)
      try database.execute(
        sql: """
          INSERT INTO \(Self.table)
            ("table", source, size, columns, began_empty, row_offset, last_row, run, found_columns)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [target, source, size, columns.joined(separator: ","), beganEmpty, offset, lastRow, run, found])
      return database.lastInsertedRowID
    }

    /// Notes the last row that an import has written.
    static func note(lastRow: Int, of identifier: Int64, _ database: Database) throws {
      try database.cachedStatement(sql: "UPDATE \(table) SET last_row = max(last_row, ?) WHERE id = ?")
        .execute(arguments: [lastRow, identifier])
    }

    /// Notes how an import has ended.
    static func end(_ identifier: Int64, _ outcome: Outcome, rows: Int, _ database: Database) throws {
      try database.execute(
        sql: "UPDATE \(table) SET ended = CURRENT_TIMESTAMP, outcome = ?, rows = ? WHERE id = ?",
        arguments: [outcome.rawValue, rows, identifier])
    }
  }

  extension Database {
    func hasRows(in table: String) throws -> Bool {
      try Row.fetchOne(self, sql: "SELECT 1 FROM \(SQL.name(table)) LIMIT 1") != nil
    }

    /// The number of the last row of a table; 0 if there is none.
    func lastRow(of table: String, _ rowIdentifier: String) throws -> Int {
      try Int.fetchOne(self, sql: "SELECT max(\(rowIdentifier)) FROM \(SQL.name(table))") ?? 0
    }
  }
#endif
