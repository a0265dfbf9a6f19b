#if Jobs
import GRDBSQLite
import HeadwayTestSupport

/// A new database with a table of entries, which counts the committed entries.
final class Scenario {
  private let folder: TemporaryFolder
  let gate = Gate()
  /// The connection whose checkpoints pass the gate.
  let gated: Connection
  /// A connection of the user, which never runs a checkpoint on its own.
  let other: Connection
  private(set) var committed = 0

  var path: String { folder.path + "/jobs.sqlite" }

  init() throws {
    folder = try TemporaryFolder()
    other = try Connection(folder.path + "/jobs.sqlite")
    try other.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
    gated = try Connection(folder.path + "/jobs.sqlite", gate: gate)
    _ = try gated.text("SELECT count(*) FROM entry")  // Now it has opened the log.
  }

  /// Commits entries, in one transaction or in several.
  ///
  /// Each entry needs a page.
  func commit(_ count: Int = 1, transactions: Int = 1, on connection: Connection) throws {
    for _ in 0..<transactions {
      try connection.execute("BEGIN IMMEDIATE")
      for _ in 0..<count { try connection.execute("INSERT INTO entry (bytes) VALUES (zeroblob(400))") }
      try connection.execute("COMMIT")
      committed += count
    }
  }

  /// Whether a new connection finds each committed entry: now, after more commits, and after another checkpoint.
  func isIntact(checkpointing connection: Connection) throws -> Bool {
    gate.disarm()
    let reader = try Connection(path)
    func allFound() -> Bool { (try? reader.text("SELECT count(*) FROM entry")) == "\(committed)" }
    var isIntact = allFound()
    do {
      try commit(on: other)
      isIntact = isIntact && allFound()
      // Now the log is longer than any before it, so that the next checkpoint skips the frames that count as copied.
      try commit(transactions: 20, on: other)
      isIntact = isIntact && allFound()
      try connection.checkpoint()
      isIntact = isIntact && allFound()
      // A writer that does not see a lost commit overwrites its pages.
      try commit(transactions: 2, on: other)
      isIntact = isIntact && allFound() && (try? reader.text("PRAGMA integrity_check")) == "ok"
    } catch let failure as Failure where failure.code == SQLITE_CORRUPT {
      return false
    }
    return isIntact
  }
}
#endif
