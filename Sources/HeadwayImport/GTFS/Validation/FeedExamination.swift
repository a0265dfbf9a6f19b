#if SQLite
import GRDB
import Headway
import HeadwayCSV
import Synchronization

/// Collects the issues of the rows of a feed.
final class CollectedRowIssues: RowIssueHandler {
  // Protected by its lock.
  private let rows = Mutex<[String: [RowIssue]]>([:])
  private let counts = Mutex<[String: Int]>([:])

  private static let mostExamples = 3

  var rejectedRowsPath: String? { nil }

  func append(_ issues: [RowIssue]) {
    for row in issues {
      // The parts of a reason that differ from row to row are in quotes.
      let kind = "\(row.table) \(row.status) \(row.reason.prefix { $0 != "“" })"
      counts.withLock { $0[kind, default: 0] += 1 }
      rows.withLock { rows in
        if rows[kind, default: []].count < Self.mostExamples { rows[kind, default: []].append(row) }
      }
    }
  }

  var feedIssues: [FeedIssue] {
    let counts = counts.withLock { $0 }
    return rows.withLock { $0 }.compactMap { kind, rows in
      rows.first.map { first in
        FeedIssue(
          severity: .error, code: first.status == .rejected ? "invalid_row" : "invalid_value",
          file: GTFSSchema.fileName(forTable: first.table), message: first.reason, count: counts[kind] ?? rows.count,
          examples: rows.map { "line \($0.lineNumber)" })
      }
    }
  }
}

/// Queries a database with a feed for errors.
final class FeedExamination: Headway.Operation, @unchecked Sendable {
  private let files: FeedFiles
  private let present: Set<String>
  private let imports: [ImportOperation]
  private let rowIssues: CollectedRowIssues
  private let database: ImportDatabase
  // Protected by its lock.
  private let found = Mutex<[FeedIssue]>([])

  private static let mostExamples = 3

  init(
    _ files: FeedFiles, present: Set<String>, imports: [ImportOperation], _ rowIssues: CollectedRowIssues,
    _ database: ImportDatabase
  ) {
    (self.files, self.present, self.imports) = (files, present, imports)
    (self.rowIssues, self.database) = (rowIssues, database)
    super.init()
    name = "check \(files.folder)"
  }

  var issues: [FeedIssue] { found.withLock { $0 } }

  override func main() throws {
    guard !isCancelled, !imports.contains(where: \.isCancelled) else { return }
    let aboutFiles = missingFiles + missingColumns + unknown + failures + rowIssues.feedIssues
    let aboutRows: [FeedIssue]
    do {
      aboutRows = try database.writeAndWait("check rows") { [self] in try issuesOfRows($0) }
    } catch let error where isCancelled && error.isInterruption {
      return
    }
    guard !isCancelled else { return }
    let all = (aboutFiles + aboutRows).sorted {
      ($0.severity == .warning ? 1 : 0, $0.file, $0.code, $0.message)
        < ($1.severity == .warning ? 1 : 0, $1.file, $1.code, $1.message)
    }
    found.withLock { $0 = all }
  }

  // MARK: Files

  private var missingFiles: [FeedIssue] {
    var missing = GTFSSchema.unmetRequirements(for: present).map { requirement in
      fileIssue(.error, "missing_required_file", requirement.description, "the required file is missing")
    }
    if !present.contains("feed_info.txt") {
      missing.append(
        fileIssue(.warning, "missing_recommended_file", "feed_info.txt", "the recommended file is missing"))
    }
    return missing
  }

  private var missingColumns: [FeedIssue] {
    imports.flatMap { operation -> [FeedIssue] in
      guard let table = GTFSSchema.table(named: operation.table.name), let layout = operation.report.layout else {
        return []
      }
      let names = Set(layout.columns.map(\.lowercasedAsName))
      return table.columns.filter { $0.isRequired && !names.contains($0.name) }.map { column in
        let file = GTFSSchema.fileName(forTable: table.name)
        return fileIssue(
          .error, "missing_required_column", file, "the required column \(column.name) is missing")
      }
    }
  }

  private var unknown: [FeedIssue] {
    let left = files.ignoredFiles.map { fileIssue(.warning, "unknown_file", $0, "the file is none of the reference") }
    return left
      + imports.flatMap { operation -> [FeedIssue] in
        let file = GTFSSchema.fileName(forTable: operation.table.name)
        guard let table = GTFSSchema.table(named: operation.table.name) else {
          return [fileIssue(.warning, "unknown_file", file, "the file is none of the reference")]
        }
        return (operation.report.layout?.columns ?? []).filter { table.column(named: $0) == nil }.map {
          fileIssue(.warning, "unknown_column", file, "the column \($0) is none of the reference")
        }
      }
  }

  /// The files that could not be read.
  private var failures: [FeedIssue] {
    imports.compactMap { operation in
      (operation.error as? ImportError).map { error in
        let code = error.code == .badHeader ? "invalid_header" : "unreadable_file"
        return fileIssue(.error, code, GTFSSchema.fileName(forTable: operation.table.name), error.context)
      }
    }
  }

  private func fileIssue(
    _ severity: FeedIssue.Severity, _ code: String, _ file: String, _ message: String
  ) -> FeedIssue {
    FeedIssue(severity: severity, code: code, file: file, message: message, count: 0, examples: [])
  }

  // MARK: Rows

  private func issuesOfRows(_ connection: Database) throws -> [FeedIssue] {
    var issues: [FeedIssue] = []
    try complete(connection)
    try connection.whileAsking { [self] in
      !isCancelled
    } _: {
      for rule in FeedRule.all {
        // A query that takes only a few steps is not interrupted.
        if isCancelled { throw CancellationError() }
        try issue(rule, connection).map { issues.append($0) }
      }
    }
    return issues
  }

  /// Adds the tables and columns that the feed lacks, so that the rules can query all of them.
  private func complete(_ connection: Database) throws {
    for table in GTFSSchema.tables {
      let existing = try ExistingTable(named: table.name, connection)
      if existing == nil {
        let columns = table.columns.map { SQL.columnDefinition($0) }.joined(separator: ", ")
        try connection.execute(sql: "CREATE TABLE \(SQL.name(table.name)) (\(columns))")
      }
      let names = Set((existing?.columnNames ?? table.columns.map(\.name)).map(\.lowercasedAsName))
      for column in table.columns where !names.contains(column.name) {
        try connection.execute(
          sql: "ALTER TABLE \(SQL.name(table.name)) ADD COLUMN \(SQL.columnDefinition(column))")
      }
    }
  }

  private func issue(_ rule: FeedRule, _ connection: Database) throws -> FeedIssue? {
    let rows = try Row.fetchCursor(connection, sql: rule.sql)
    var (count, examples) = (0, [String]())
    while let row = try rows.next() {
      count += 1
      guard examples.count < Self.mostExamples else { continue }
      let values = rule.columns.enumerated().compactMap { position, column in
        let value: DatabaseValue = row[position + 1]
        return (String.fromDatabaseValue(value) ?? value.numberText).map { "\(column) \($0)" }
      }
      let place = "record \(row[0] as Int)"
      examples.append(values.isEmpty ? place : "\(place): \(values.joined(separator: ", "))")
    }
    guard count > 0 else { return nil }
    return FeedIssue(
      severity: rule.severity, code: rule.code, file: GTFSSchema.fileName(forTable: rule.table), message: rule.message,
      count: count, examples: examples)
  }
}
#endif
