#if Jobs
import CHeadwayJobsTestSupport
import GRDBSQLite

/// A connection that runs a checkpoint only when a test calls for it.
final class Connection {
  let handle: OpaquePointer
  private var isOpen = true

  /// Opens a connection whose checkpoints pass the gate, which must outlive it.
  init(_ path: String, gate: Gate? = nil) throws {
    try check(headway_register_gated_vfs())
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = sqlite3_open_v2(path, &handle, flags, "headway-gated")
    guard code == SQLITE_OK, let handle else {
      sqlite3_close(handle)
      throw Failure(code: code)
    }
    self.handle = handle
    if let gate { try check(sqlite3_file_control(handle, "main", Int32(headway_fcntl_gate), gate.pointer)) }
    // Small pages make a log of many frames cheap.
    try execute("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    try execute("PRAGMA synchronous = FULL")
  }

  deinit { close() }

  func close() {
    if isOpen { sqlite3_close(handle) }
    isOpen = false
  }

  func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  /// The text of the first column of the first row.
  func text(_ sql: String) throws -> String {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    defer { sqlite3_finalize(statement) }
    let code = sqlite3_step(statement)
    guard code == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else { throw Failure(code: code) }
    return String(cString: text)
  }

  /// Runs a passive checkpoint and returns the lengths of the log and of its copied part.
  @discardableResult
  func checkpoint() throws -> (frames: Int32, copied: Int32) {
    var frames: Int32 = -1
    var copied: Int32 = -1
    try check(sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &copied))
    return (frames, copied)
  }
}

/// A result code of SQLite other than success.
struct Failure: Error, Equatable {
  let code: Int32
}

private func check(_ code: Int32) throws { if code != SQLITE_OK { throw Failure(code: code) } }
#endif
