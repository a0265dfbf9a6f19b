#if SQLite
import Foundation
import GRDB
import HeadwayFiles
import HeadwayImport

/// Runs `headway import --dry-run`.
struct DryRun {
  let sources: ImportSources
  let options: ImportOptions
  let fileOptions: FileOptions
  /// The database, which does not have to exist.
  let database: String?

  /// Prints the statements that create the tables, and imports nothing.
  ///
  /// - Throws: ``ImportError``.
  func run() throws {
    let files = sources.files
    let database = try openDatabase()
    var described: Set<String> = []
    for file in files {
      let preview = try ImportPreview(
        ofFile: file.path, table: file.table, options: options, referringTo: files.map(\.table))
      let findings = fileOptions.findings(preview.layout)
      let found = findings.isEmpty ? "" : ": \(findings.joined(separator: ", "))"
      StandardStream.output.writeLine("-- \(file.path)\(found)")
      for note in preview.notes { StandardStream.output.writeLine("-- \(note)") }
      guard described.insert(preview.table.lowercased()).inserted else { continue }
      if let existing = try database.flatMap({ try existingDefinition(of: preview.table, in: $0) }) {
        StandardStream.output.writeLine("-- The database has this table:")
        StandardStream.output.writeLine("\(existing);")
      } else {
        for statement in preview.statements { StandardStream.output.writeLine("\(statement);") }
      }
    }
  }

  /// Opens the database, if it exists, and checks that the file is a database.
  private func openDatabase() throws -> DatabaseQueue? {
    guard let database, FileSystem.kind(of: database) != nil else { return nil }
    var configuration = Configuration()
    configuration.readonly = true
    do {
      let queue = try DatabaseQueue(path: database.databaseName, configuration: configuration)
      try queue.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
      return queue
    } catch {
      throw ImportError(.database, path: database, context: "The database can't be opened.", underlyingError: error)
    }
  }

  private func existingDefinition(of table: String, in database: DatabaseQueue) throws -> String? {
    try database.read { connection in
      try String.fetchOne(
        connection, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
        arguments: [table])
    }
  }
}
#endif
