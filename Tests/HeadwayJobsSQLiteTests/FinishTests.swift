#if Jobs
import Foundation
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Synchronization
import Testing

/// Ends itself twice.
private struct TwiceFinished: Job {
  static let kind: JobKind = "twice finished"
  func perform(in context: JobContext) async throws -> String {
    try await context.finish { database in
      try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
      return "already finished"
    }
    let error = await #expect(throws: JobError.self) {
      try await context.finish { try $0.execute(sql: "INSERT INTO photo (size) VALUES (2)") }
    }
    #expect(error?.code == .alreadyFinished)
    return ""
  }
}

/// Job code with forbidden actions in transactions of the store.
@Suite(.hangLimit) struct FinishTests {
  /// The code's effect on the transaction, apart from a write.
  static let harm = [
    "COMMIT", "ROLLBACK", "COMMIT; BEGIN", "ROLLBACK; BEGIN", "ROLLBACK; BEGIN; INSERT INTO photo (size) VALUES (2)",
  ]

  @Test(
    "J135: if code ends the transaction, the request fails, the job does not end, and nothing is written",
    arguments: harm)
  func endsTransaction(sql: String) async throws {
    let app = try TransactionTests.Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    let error = await #expect(throws: JobError.self) {
      try await context.finish { database in
        try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
        // Code might also ignore the error.
        for statement in sql.split(separator: ";") { try? database.execute(sql: String(statement)) }
      }
    }
    #expect(error?.code == .transactionEnded)
    let job = try await handle.job()
    #expect(job?.state == .running)
    #expect(try app.photoCount() == 0)
    // The attempt continues and can finish the job.
    try await context.finish { try $0.execute(sql: "INSERT INTO photo (size) VALUES (3)") }
    let ended = try await handle.job()
    #expect(ended?.state == .succeeded)
    #expect(try app.photoCount() == 1)
    await app.store.close()
  }

  @Test("J135: if the code finishes its job twice, the second call is rejected, and the job has succeeded")
  func secondCall() async throws {
    let app = try TransactionTests.Application()
    let handle = try await app.jobs.enqueue(TwiceFinished())
    let worker = JobWorker(app.jobs, kinds: [TwiceFinished.self])
    worker.serve(on: Headway.OperationQueue(maxConcurrentOperationCount: 1))
    let events = app.jobs.events.makeAsyncIterator()
    let running = Task { try await worker.run() }
    #expect(try await handle.value == "already finished")
    worker.stop()
    try await running.value
    var (iterator, endings) = (events, [String]())
    while let event = await iterator.next() {
      if case .ended = event { endings.append("\(event)") }
      if case .workerStopped = event { break }
    }
    #expect(endings == ["attempt 1 of job 1 (twice finished) has succeeded"])
    #expect(try app.photoCount() == 1)
    await app.store.close()
  }

  /// SQLite's own errors that prevent it from continuing a transaction.
  static let severe: [ResultCode] = [.SQLITE_CORRUPT, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_INTERRUPT]

  @Test("J135: an error of another database in the code affects no other request", arguments: severe)
  func otherDatabase(code: ResultCode) async throws {
    let app = try TransactionTests.Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    let (writing, gate) = await app.holdWriter()
    let jobs = app.jobs
    let added = try await withThrowingTaskGroup(of: JobID?.self) { group in
      for number in 0..<20 {
        group.addTask { try await jobs.enqueue(Note(text: "\(number)")).id }
        guard number == 10 else { continue }
        group.addTask {
          let error = await #expect(throws: DatabaseError.self) {
            try await context.finish { database in
              try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
              throw DatabaseError(resultCode: code, message: "another database")
            }
          }
          #expect(error?.resultCode == code)
          return nil
        }
      }
      gate.open()
      return try await group.compactMap(\.self).reduce(into: []) { $0.append($1) }.sorted()
    }
    try await writing.value
    let stored = try await app.jobs.jobs()
    #expect(stored.map(\.id) == [handle.id] + added)
    #expect(stored.map(\.state) == [.running] + (0..<20).map { _ in .waiting })
    #expect(try app.photoCount() == 0)
    await app.store.close()
  }

  @Test("J135: savepoints are allowed in the code")
  func savepoints() async throws {
    let app = try TransactionTests.Application()
    try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    try await context.finish { database in
      try database.inSavepoint {
        try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
        return .rollback
      }
      try database.inSavepoint {
        try database.execute(sql: "INSERT INTO photo (size) VALUES (2)")
        return .commit
      }
    }
    #expect(try app.photoCount() == 1)
    await app.store.close()
  }

  /// Statements that never end.
  static let endless = [
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "INSERT INTO photo (size) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
  ]

  @Test("J135: code that takes longer than its limit is interrupted, and its job does not end", arguments: endless)
  func interrupted(sql: String) async throws {
    let app = try TransactionTests.Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    let error = await #expect(throws: JobError.self) {
      try await context.finish(within: .milliseconds(1)) { database in
        try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
        try database.execute(sql: sql)
      }
    }
    #expect(error?.code == .timeLimitExceeded)
    let job = try await handle.job()
    #expect(job?.state == .running)
    #expect(try app.photoCount() == 0)
    await app.store.close()
  }

  @Test("J135: code that took longer than its limit, but not in a statement, fails too")
  func slow() async throws {
    let app = try TransactionTests.Application()
    try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    let error = await #expect(throws: JobError.self) {
      try await context.finish(within: .zero) { try $0.execute(sql: "INSERT INTO photo (size) VALUES (1)") }
    }
    #expect(error?.code == .timeLimitExceeded)
    #expect(try app.photoCount() == 0)
    // An error of the code is more important.
    await #expect(throws: TransactionTests.Refusal.self) {
      try await context.finish(within: .zero) { _ in throw TransactionTests.Refusal() }
    }
    await app.store.close()
  }

  @Test(
    "J135, J130: requests in the same transaction are executed exactly once, whatever the code does", arguments: harm)
  func others(sql: String) async throws {
    let app = try TransactionTests.Application()
    let harmful = try await app.jobs.enqueue(Note(text: "harmful"))
    let context = try await app.claim()
    let good = try await app.jobs.enqueue(Note(text: "good"))
    let goodContext = try await app.claim()
    let (writing, gate) = await app.holdWriter()
    let jobs = app.jobs
    let added = try await withThrowingTaskGroup(of: JobID?.self) { group in
      for number in 0..<20 {
        group.addTask { try await jobs.enqueue(Note(text: "\(number)")).id }
        if number == 5 {
          group.addTask {
            try await goodContext.finish { try $0.execute(sql: "INSERT INTO photo (size) VALUES (1)") }
            return nil
          }
        }
        if number == 10 {
          group.addTask {
            let error = await #expect(throws: JobError.self) {
              try await context.finish { database in
                for statement in sql.split(separator: ";") { try? database.execute(sql: String(statement)) }
              }
            }
            #expect(error?.code == .transactionEnded)
            return nil
          }
        }
      }
      gate.open()
      return try await group.compactMap(\.self).reduce(into: []) { $0.append($1) }.sorted()
    }
    try await writing.value
    let stored = try await app.jobs.jobs()
    #expect(stored.map(\.id) == [harmful.id, good.id] + added)
    #expect(stored.map(\.state) == [.running, .succeeded] + (0..<20).map { _ in .waiting })
    #expect(try app.photoCount() == 1)
    await app.store.close()
  }
}
#endif
