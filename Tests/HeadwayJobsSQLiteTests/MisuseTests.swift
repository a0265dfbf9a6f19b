#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// Programming errors with an application's transactions, each in its own process.
@Suite struct TransactionMisuseTests {
  @Test(
    "J11, J183: a transaction of another database, or with another store, stops the process", arguments: [false, true])
  func otherDatabase(isInMemory: Bool) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [isInMemory] in
      let folder = try TemporaryFolder()
      let sqlite = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
      let jobs = isInMemory ? Jobs(MemoryJobStore()) : Jobs(sqlite)
      try await DatabaseQueue().write { database in _ = try jobs.enqueue(Plain(), in: database) }
      await sqlite.close()
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let message =
      isInMemory
      ? "The jobs are in a MemoryJobStore, which can't take part in a transaction of SQLite. Use an SQLiteJobStore."
      : "The connection's database is not the job store's database"
    #expect(output.contains("Fatal error: \(message)"), "\(output)")
  }

  private struct Plain: Job {
    static let kind: JobKind = "plain"
    func perform(in context: JobContext) async throws {}
  }
}
#endif
