#if Jobs
import GRDB
import GRDBSQLite
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// The WAL-reset bug, and how the store avoids it.
///
/// In the drawings, time runs down.
@Suite("Jobs in SQLite: checkpoints", .hangLimit)
struct CheckpointTests {
  /// The actions of another connection during a checkpoint.
  enum Interference: CaseIterable {
    case commit, commits, largeCommit, otherConnection, reader, twoReaders

    func run(in scenario: Scenario, keeping connections: inout [Connection]) throws {
      switch self {
      case .commit: try scenario.commit(on: scenario.other)
      case .commits: try scenario.commit(transactions: 20, on: scenario.other)
      case .largeCommit: try scenario.commit(30, on: scenario.other)
      case .otherConnection: try scenario.commit(on: Connection(scenario.path))
      case .reader, .twoReaders:
        for number in 1...(self == .reader ? 1 : 2) {
          let reader = try Connection(scenario.path)
          try reader.execute("BEGIN; SELECT count(*) FROM entry")
          connections.append(reader)
          try scenario.commit(number, on: scenario.other)
        }
      }
    }
  }

  /// Runs a scenario once per call that its last checkpoint makes, with an interference before this call.
  ///
  /// Returns the calls of the checkpoint without an interference, and the calls where it caused a loss.
  ///
  /// During a few calls, the checkpoint holds the lock of a read mark. The other connection tries again until the lock
  /// is free. Because the checkpoint waits for this connection here, the connection gives up, and commits nothing.
  private func calls(
    interferingWith interference: Interference = .commit, prepare: (Scenario) throws -> Void,
    checkpoint: (Scenario) throws -> Void
  ) throws -> (all: [String], losing: [String]) {
    var losing: [String] = []
    for call in 0... {
      let scenario = try Scenario()
      try prepare(scenario)
      var (connections, failure): ([Connection], (any Error)?) = ([], nil)
      var hasInterfered = false
      scenario.gate.arm(at: call) {
        hasInterfered = true
        do { try interference.run(in: scenario, keeping: &connections) } catch { failure = error }
      }
      try checkpoint(scenario)
      if let failure {
        guard failure as? Failure == Failure(code: SQLITE_PROTOCOL) else { throw failure }
        #expect(scenario.gate.methods[call] == "xShmLock")
      }
      guard hasInterfered else { return (scenario.gate.methods, losing) }
      for connection in connections { connection.close() }
      if try !scenario.isIntact(checkpointing: scenario.gated) { losing.append(scenario.gate.methods[call]) }
    }
    return ([], losing)  // Never: a checkpoint makes a finite number of calls.
  }

  //   checkpoints                       commits
  //                                     copies the log completely
  //   starts a checkpoint:
  //     reads the length of the log
  //                                     resets the log, commits
  //     compares: nothing is copied?
  //     regards the old length as copied
  @Test("J108: a commit during a checkpoint of a copied log is lost, unless the library has the fix")
  func bug() throws {
    let (all, losing) = try calls { scenario in
      try scenario.commit(transactions: 5, on: scenario.other)
      let (frames, copied) = try scenario.other.checkpoint()
      #expect(frames > 10 && copied == frames)
    } checkpoint: { scenario in
      try scenario.gated.checkpoint()
    }
    #expect(all.contains("xUnfetch"))
    expectLoss(losing)
  }

  /// Expects a loss, and only at the only call between the step that reads the length of the log, and the step that
  /// compares it.
  private func expectLoss(_ losing: [String]) {
    if Checkpoint.libraryHasFix {
      #expect(losing == [])
    } else if losing.isEmpty {  // The precaution is superfluous then, not wrong.
      let version = String(cString: sqlite3_libversion())
      Issue.record("A distribution seems to have added the fix to SQLite \(version).", severity: .warning)
    } else {
      #expect(losing == ["xUnfetch"])
    }
  }

  //   store                             user
  //   acquires the lock, commits
  //                                     commits, or not
  //   copies the log, in many steps
  //                                     commits between any two of them
  //   releases the lock
  @Test("J108: no commit is lost during a checkpoint directly after a commit", arguments: Interference.allCases)
  func precaution(interference: Interference) throws {
    for othersCommit in [false, true] {
      var checkpoint: Checkpoint?
      let (all, losing) = try calls(interferingWith: interference) { scenario in
        let created = Checkpoint(writer: scenario.gated.handle, threshold: 1)
        try scenario.commit(transactions: 5, on: scenario.other)
        created.lockAcquired()
        try scenario.commit(on: scenario.gated)
        guard case .done(let frames, let copied) = created.afterCommit() else { throw Failure(code: -1) }
        #expect(frames == copied)
        created.lockAcquired()
        try scenario.commit(2, on: scenario.gated)  // It resets the log.
        if othersCommit { try scenario.commit(on: scenario.other) }
        checkpoint = created
      } checkpoint: { _ in
        guard case .done = try #require(checkpoint).afterCommit() else { throw Failure(code: -1) }
        checkpoint?.stop()
      }
      #expect(losing == [])
      #expect(all.contains("xUnfetch") == othersCommit)
      #expect(all.contains("xWrite"))
    }
  }

  //   store                     store without the lock            user
  //   commits
  //                             commits
  //                             copies the log completely
  //   starts a checkpoint:
  //     reads the length of the log
  //                                                               resets the log, commits
  //     regards the old length as copied
  @Test(
    "J108: a witness connection prevents the loss if other connections run checkpoints",
    arguments: Interference.allCases)
  func witness(interference: Interference) throws {
    for hasWitness in [false, true] {
      var checkpoint: Checkpoint?
      var witness: Connection?
      let (all, losing) = try calls(interferingWith: interference) { scenario in
        witness = hasWitness ? try Connection(scenario.path) : nil
        let created = Checkpoint(writer: scenario.gated.handle, witness: witness?.handle, threshold: 1)
        try scenario.commit(5, on: scenario.other)
        created.lockAcquired()
        try scenario.commit(on: scenario.gated)
        try scenario.commit(on: scenario.other)
        try scenario.other.checkpoint()
        checkpoint = created
      } checkpoint: { _ in
        guard case .done = try #require(checkpoint).afterCommit() else { throw Failure(code: -1) }
        checkpoint?.stop()
        witness?.close()
      }
      #expect(all.contains("xUnfetch"))
      if hasWitness {
        #expect(losing == [])
      } else if interference == .commit {
        expectLoss(losing)
      }
    }
  }

  @Test("J108: a checkpoint runs only after a commit that added frames while the lock was held, from the threshold")
  func due() throws {
    let scenario = try Scenario()
    let checkpoint = Checkpoint(writer: scenario.gated.handle, threshold: 10)
    defer { checkpoint.stop() }

    checkpoint.lockAcquired()
    try scenario.gated.execute("BEGIN IMMEDIATE; COMMIT")
    #expect(checkpoint.afterCommit() == .notDue)  // Nothing was written.

    checkpoint.lockAcquired()
    try scenario.commit(on: scenario.gated)
    #expect(checkpoint.afterCommit() == .notDue)  // Too few frames.

    try scenario.commit(20, on: scenario.gated)
    checkpoint.lockAcquired()
    try scenario.gated.execute("BEGIN IMMEDIATE; INSERT INTO entry (bytes) VALUES (x''); ROLLBACK")
    #expect(checkpoint.afterCommit() == .notDue)  // The commit came before the lock.

    try scenario.gated.execute("PRAGMA wal_autocheckpoint = 1000")
    checkpoint.lockAcquired()
    try scenario.commit(on: scenario.gated)
    guard case .done(let frames, let copied) = checkpoint.afterCommit() else { throw Failure(code: -1) }
    #expect(frames > 20 && copied == frames)
    #expect(checkpoint.afterCommit() == .notDue)  // Once per commit.
  }

  @Test("J108: a reader limits the frames that a checkpoint copies, and the next checkpoint copies the rest")
  func reader() throws {
    let scenario = try Scenario()
    let witness = try Connection(scenario.path)
    let checkpoint = Checkpoint(writer: scenario.gated.handle, witness: witness.handle, threshold: 1)
    defer { checkpoint.stop() }
    try scenario.other.execute("BEGIN; SELECT count(*) FROM entry")
    checkpoint.lockAcquired()
    try scenario.commit(3, on: scenario.gated)
    guard case .done(let frames, let copied) = checkpoint.afterCommit() else { throw Failure(code: -1) }
    #expect(copied < frames)
    try scenario.other.execute("COMMIT")
    checkpoint.lockAcquired()
    try scenario.commit(on: scenario.gated)
    guard case .done(let moreFrames, let all) = checkpoint.afterCommit() else { throw Failure(code: -1) }
    #expect(moreFrames > frames && all == moreFrames)
    #expect(try scenario.isIntact(checkpointing: scenario.gated))
  }

  @Test(
    "J108: closing a connection runs a checkpoint only if it is the last connection, and blocks all other connections")
  func closing() throws {
    for call in 0... {
      let scenario = try Scenario()
      try scenario.commit(transactions: 5, on: scenario.other)
      var code: Int32?
      scenario.gate.arm(at: call) {
        do {
          let connection = try Connection(scenario.path)
          try connection.execute("INSERT INTO entry (bytes) VALUES (x'')")
          code = SQLITE_OK
        } catch {
          code = (error as? Failure)?.code
        }
      }
      let early = try Connection(scenario.path, gate: scenario.gate)
      early.close()
      #expect(scenario.gate.methods.isEmpty)
      scenario.other.close()
      scenario.gated.close()
      guard let code else {
        #expect(scenario.gate.methods.contains("xWrite"))
        return
      }
      #expect(code == SQLITE_BUSY)
      let connection = try Connection(scenario.path)
      #expect(try connection.text("SELECT count(*) FROM entry") == "\(scenario.committed)")
      #expect(try connection.text("PRAGMA integrity_check") == "ok")
    }
  }

  @Test("J108: a prepared pool runs no checkpoint, even when it is closed while another connection is open")
  func prepared() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/jobs.sqlite"
    var configuration = Configuration()
    Checkpoint.prepare(&configuration)
    let pool = try DatabasePool(path: path, configuration: configuration)
    let open = try DatabasePool(path: path, configuration: configuration)
    try pool.write { database in
      try database.execute(sql: "CREATE TABLE entry (bytes BLOB); INSERT INTO entry VALUES (zeroblob(8000000))")
    }
    let limit = try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA wal_autocheckpoint") }
    #expect(limit == (Checkpoint.libraryHasFix ? 1000 : 0))
    #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry") } == 1)
    try pool.close()
    if !Checkpoint.libraryHasFix { #expect(try folder.bytes(of: "jobs.sqlite").count < 1_000_000) }
    try open.close()
  }

  @Test(
    "J108: the library versions that have the fix are recognized",
    arguments: [
      (3_007_000, false), (3_040_001, false), (3_044_005, false), (3_044_006, true), (3_045_000, false),
      (3_050_006, false), (3_050_007, true), (3_051_000, false), (3_051_002, false), (3_051_003, true),
      (3_053_000, true),
    ])
  func versions(version: Int32, hasFix: Bool) { #expect(Checkpoint.hasFix(version: version) == hasFix) }
}
#endif
