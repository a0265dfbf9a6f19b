import Headway

/// The database-specific parts of statements that find jobs.
@_spi(JobStore) public protocol SearchStatements {
  /// The columns of the table of unfinished jobs that ``JobRow/read(_:)`` expects.
  static var unfinishedColumns: String { get }
  /// The columns of the table of finished jobs that ``JobRow/read(_:)`` expects.
  static var finishedColumns: String { get }
  /// The end of a statement that locks its rows; empty if the database needs none.
  static var lock: String { get }
  /// Whether strings can contain null characters.
  ///
  /// If they can, a list with such a text is not compared by the database.
  static var storesNullCharacters: Bool { get }

  /// Returns the condition that a column is in the list of a parameter.
  static func isIn(_ column: String, _ parameter: String) -> String

  /// Returns the condition that a column contains the bytes of a parameter.
  static func contains(_ column: String, _ parameter: String) -> String
}

/// The statements that find jobs.
///
/// The conditions match a ``JobFilter``: see ``JobSelection``.
enum SearchSQL {
  /// A table of jobs.
  struct Table {
    let name: String
    let areFinished: Bool
    /// The condition of the index that has the order of the numbers, if it is not the primary key.
    var part = "true"
    /// Whether the condition selects one state.
    var hasOneState: Bool { part != "true" }

    static let unfinished = Table(name: "headway.job", areFinished: false)
    static let finished = Table(name: "headway.done", areFinished: true)
    /// The retrying jobs; by the index `job_retrying`.
    static let retrying = Table(name: "headway.job", areFinished: false, part: JobState.retrying.condition)

    /// The failed or the cancelled jobs; by the index `done_unsuccessful`.
    static func finished(_ state: JobState) -> Table {
      Table(name: "headway.done", areFinished: true, part: "\(JobCondition.isUnsuccessful) AND \(state.condition)")
    }

    /// The jobs in a state whose last error is in a group; by the indexes `job_error` and `done_error`.
    static func errors(_ group: JobErrorGroup.ID, _ state: JobState) -> Table {
      var table = state.isFinished ? finished : unfinished
      table.part = "error = \(group.rawValue) AND \(state.condition)"
      return table
    }
  }

  /// Jobs ordered by ID; by the primary key, or the index of a condition.
  static func page(_ columns: String, _ table: Table, where condition: String, limit: String, lock: String) -> String {
    "SELECT \(columns) FROM \(table.name) t WHERE \(table.part) AND \(condition) ORDER BY id LIMIT \(limit)\(lock)"
  }

  /// The end of the next rows after a number, and how many there are; by the primary key, or the index of the part.
  static func window(_ table: Table) -> String {
    """
    SELECT max(id), count(*) FROM (
      SELECT id FROM \(table.name) WHERE \(table.part) AND id > $1 ORDER BY id LIMIT $2) seen
    """
  }

  /// The end of the next rows before a number, and how many there are; by the primary key, or the index of the part.
  static func windowBefore(_ table: Table) -> String {
    """
    SELECT min(id), count(*) FROM (
      SELECT id FROM \(table.name) WHERE \(table.part) AND id < $1 ORDER BY id DESC LIMIT $2) seen
    """
  }

  /// The newest jobs before an ID; by the primary key, or the index of the part.
  static func newest(_ columns: String, _ table: Table, where condition: String) -> String {
    """
    SELECT \(columns) FROM \(table.name) WHERE \(table.part) AND id < $1 AND id >= $2 AND \(condition)
    ORDER BY id DESC LIMIT $3
    """
  }

  /// The IDs and settings of jobs in some parts of a table, and how many jobs the parts have, up to a limit; by the
  /// indexes of the parts.
  static func few(
    _ parts: [String], of table: Table, _ columns: String, limit: String, where condition: String
  ) -> String {
    let selects = parts.map { "SELECT \(columns) FROM \(table.name) WHERE \($0)" }
    return """
      WITH few AS MATERIALIZED (SELECT * FROM (\(selects.joined(separator: " UNION ALL "))) parts LIMIT \(limit))
      SELECT id, settings, (SELECT count(*) FROM few) FROM few WHERE \(condition)
      UNION ALL SELECT NULL, NULL, (SELECT count(*) FROM few)
      """
  }

  /// The condition that a command can change a job, in addition to its filter.
  static func condition(of command: JobCommand, _ statement: inout StoreStatement) -> String {
    switch command {
    case .cancel: "(\(JobCondition.isChangeable) OR (flags & \(JobRow.cancelRequested)) = 0)"
    case .abandon: JobState.running.condition
    case .retry: JobCondition.isUnsuccessful
    case .delete:
      "NOT EXISTS (SELECT 1 FROM headway.edge e JOIN headway.job j ON j.id = e.dependent WHERE e.dependency = t.id)"
    case .change(_, .priority(let priority)):
      "(\(JobCondition.isChangeable) AND priority <> \(statement.add(.number(priority.rawValue))))"
    case .change(_, .queue(let queue)):
      "(\(JobCondition.isChangeable) AND queue <> \(statement.add(.text(queue))))"
    case .change: JobCondition.isChangeable
    case .signal, .setPaused, .configure, .setMuted, .prune: "true"
    }
  }
}
