#if Jobs
import GRDBSQLite
@_spi(JobStore) public import HeadwayJobs

extension SQLiteJobStore {
  /// Checks the database: the version of SQLite, the settings, the size of the write-ahead log, and the space on the
  /// disk.
  ///
  /// - Parameter measuresCommit: Whether to commit a small change, in order to measure how long that takes.
  /// - Returns: The results of the checks.
  /// - Throws: `JobError` if the database can't be read, or if the change fails.
  @_spi(JobStore) public func findings(measuringCommit measuresCommit: Bool) async throws -> [JobsHealth.Finding] {
    let journal = try await read { try $0.rows(StoreStatement(FindingsSQL.journalMode)) { $0.text(0) }.first ?? "" }
    var findings = [Self.version, Self.journal(journal), Self.log(at: file), Self.space(at: file)]
    if measuresCommit {
      let start = ContinuousClock.now
      try await change { try $0.noteCheck() }
      findings.append(JobsHealth.Finding(commitTook: ContinuousClock.now - start))
    }
    return findings
  }

  /// The log can become this large before its size is a finding.
  private static let maxLogSize = 256 << 20

  private static var version: JobsHealth.Finding {
    let text = "SQLite \(String(cString: sqlite3_libversion()))."
    return .good(
      "Version",
      Checkpoint.libraryHasFix
        ? text : text + " This version has a defect, so only the store copies the write-ahead log.")
  }

  private static func journal(_ mode: String) -> JobsHealth.Finding {
    mode == "wal"
      ? .good("Durability", "A commit is synced to the disk.")
      : .bad(
        "Durability",
        "The journal mode is “\(mode)”, although the store needs “wal”. Another program has changed it.")
  }

  private static func log(at path: String) -> JobsHealth.Finding {
    let size = LockFile.size(path + "-wal")
    let text = "The write-ahead log has \(Readable.number(size >> 20)) MB."
    return size > maxLogSize
      ? .warning("Log", text + " A long read transaction prevents its reuse. End it.") : .good("Log", text)
  }

  private static func space(at path: String) -> JobsHealth.Finding {
    guard let free = LockFile.freeBlocks(path) else { return .good("Space", "The free space of the disk is unknown.") }
    return JobsHealth.Finding(freeBlocks: free.count, ofSize: free.size)
  }
}

extension JobsHealth.Finding {
  /// Less free space than this is a finding.
  private static let minFreeMegabytes = 1_024

  /// Creates the finding about the free space of a disk.
  ///
  /// - Parameters:
  ///   - count: The number of free blocks.
  ///   - size: The size of a block in bytes.
  package init(freeBlocks count: UInt64, ofSize size: UInt64) {
    // Some file systems report so many blocks that the number of bytes would overflow.
    let megabytes = Int(min(Double(count) * Double(size) / 1_048_576, 1e15))
    self.init(
      level: megabytes < Self.minFreeMegabytes ? .warning : .good, name: "Space",
      text: "The disk has \(Readable.number(megabytes)) MB of free space.")
  }
}

extension JobTransaction {
  /// Makes a small change that affects nothing.
  fileprivate func noteCheck() throws {
    let check = try statement(FindingsSQL.check)
    check.bind(now.microseconds, at: 1)
    try check.run()
  }
}
#endif
