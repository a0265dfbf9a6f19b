#if Jobs
import Foundation
import GRDB
import Headway
import HeadwayJobs
import HeadwayJobsSQLite

/// Kills its process.
struct PoisonJob: Job {
  static let kind: JobKind = "poison"

  func perform(in context: JobContext) async throws { kill(getpid(), SIGKILL) }
}

/// Holds a lock of the kernel while it runs, so that it notices a second run at the same time.
struct RivalJob: Job {
  static let kind: JobKind = "rival"
  static let options: JobOptions = [
    .retry(.constant(maxAttemptCount: 1_000_000, delay: .zero)), .maxCrashCount(1_000_000),
  ]
  static let table = "CREATE TABLE effect (job INTEGER PRIMARY KEY, count INTEGER NOT NULL)"
  /// An existing folder for the locks.
  var folder: String
  var number: Int
  /// The number of attempts that fail.
  var failureCount: Int

  struct Failure: Error {}

  func perform(in context: JobContext) async throws {
    let descriptor = open("\(folder)/\(number)", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      close(open("\(folder)/\(number).twice", O_RDWR | O_CREAT | O_CLOEXEC, 0o666))
    }
    for _ in 0..<20 { await Task.yield() }
    if context.attempt <= failureCount { throw Failure() }
    let id = context.id.rawValue
    try await context.finish { database in
      try database.execute(
        sql: "INSERT INTO effect VALUES (?, 1) ON CONFLICT (job) DO UPDATE SET count = count + 1", arguments: [id])
    }
  }
}

/// An order, whose steps write to the database of the store.
struct OrderJob: Job {
  static let kind: JobKind = "order"
  static let options: JobOptions = [.maxCrashCount(1_000_000)]
  static let table = "CREATE TABLE step (name TEXT NOT NULL)"
  /// Whether the order can't be shipped, so that the charge is refunded.
  var isRefused: Bool

  struct Refusal: Error {}

  func perform(in context: JobContext) async throws {
    try await context.step("charge")
    do {
      // The time limit is never reached.
      guard try await context.waitForSignal("packed", timeLimit: .seconds(1_000_000_000)) else { throw Refusal() }
      try await context.sleep("cool down", for: .milliseconds(1))
      if isRefused { throw Refusal() }
      try await context.step("ship")
    } catch is Refusal {
      try await context.step("refund")
      return
    }
    try await context.sleep("cool down", for: .milliseconds(1))
    try await context.step("review")
  }
}

/// A job of an old release.
struct OldLetter: Job {
  static let kind: JobKind = "letter"
  static let table = """
    CREATE TABLE letter (job INTEGER NOT NULL, version INTEGER NOT NULL, release INTEGER NOT NULL, copies INTEGER)
    """
  var text: String

  func perform(in context: JobContext) async throws { try await context.finishLetter(release: 1, copies: 1) }
}

/// The same kind of job in a new release, which requires another value.
struct NewLetter: Job {
  static let kind: JobKind = "letter"
  static let version = 2
  var text: String
  var copies: Int

  init(text: String, copies: Int) { (self.text, self.copies) = (text, copies) }

  init(migrating payload: JobPayload, from version: Int) throws {
    self.init(text: try payload.decode(OldLetter.self).text, copies: 1)
  }

  func perform(in context: JobContext) async throws { try await context.finishLetter(release: 2, copies: copies) }
}

extension JobContext {
  fileprivate func step(_ name: String) async throws {
    _ = try await checkpoint(name) { database in
      try database.execute(sql: "INSERT INTO step VALUES (?)", arguments: [name])
      return true
    }
  }

  fileprivate func finishLetter(release: Int, copies: Int) async throws {
    let (id, version) = (id.rawValue, job.version)
    try await finish { database in
      try database.execute(
        sql: "INSERT INTO letter VALUES (?, ?, ?, ?)", arguments: [id, version, release, copies])
    }
  }
}
#endif
