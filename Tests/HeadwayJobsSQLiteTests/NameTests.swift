#if Jobs
import Headway
import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// Names that are equal in Swift.
@Suite(.hangLimit) struct NameTests {
  @Test("J297: queues whose names differ only in their bytes are different queues, and a worker serves both")
  func equalNames() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    let jobs = Jobs(store)
    let names = ["caf\u{e9}", "cafe\u{301}"]
    for name in names { try await jobs.changeQueue(name, .maxRunningJobCount(5)) }
    for serves in [
      { (worker: JobWorker) in worker.serve(matching: "caf*", on: OperationQueue()) },
      { (worker: JobWorker) in for name in names { worker.serve(name, on: OperationQueue()) } },
    ] {
      var handles: [JobHandle<Void>] = []
      for name in names { handles.append(try await jobs.enqueue(EmptyJob(), .queue(name))) }
      let worker = JobWorker(jobs, kinds: [EmptyJob.self])
      serves(worker)
      try await worker.drain()
      for handle in handles { #expect(try await handle.job()?.state == .succeeded) }
    }
    await store.close()
  }
}

private struct EmptyJob: Job {
  static let kind: JobKind = "empty"

  func perform(in context: JobContext) async throws {}
}
#endif
