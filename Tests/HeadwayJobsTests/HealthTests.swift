#if Jobs
import Headway
@_spi(JobStore) import HeadwayJobs
import Testing

/// The health of a store in memory.
@Suite struct HealthTests {
  private struct Work: Job {
    static let kind: JobKind = "work"

    func perform(in context: JobContext) async throws {}
  }

  private func finding(_ name: String, _ health: JobsHealth) -> JobsHealth.Finding? {
    health.findings.first { $0.name == name }
  }

  @Test("J109: jobs that no worker runs are a bad finding, which a running worker turns into a good one") func workers()
    async throws
  {
    let jobs = Jobs(MemoryJobStore())
    let handle = try await jobs.enqueue(Work())
    let before = try await jobs.health()
    #expect(before.level == .bad)
    #expect(finding("Workers", before)?.text == "No worker is running, and 1 job has not ended.")
    #expect(finding("Queues", before)?.text == "1 job waits in the queue “default”, but no worker serves it.")

    let worker = JobWorker(jobs, kinds: [Work.self])
    worker.serve(on: OperationQueue())
    let run = Task { try await worker.run() }
    try await handle.untilSucceeded()
    let after = try await jobs.health()
    #expect(after.level == .good, "\(after)")
    #expect(finding("Workers", after)?.text == "1 worker running.")
    worker.stop()
    try await run.value
  }

  @Test("J109: a paused queue is a finding") func pause() async throws {
    let jobs = Jobs(MemoryJobStore())
    _ = try await jobs.perform(.setPaused(queue: "default", true))
    let health = try await jobs.health()
    let expected = JobsHealth.Finding.warning("Pauses", "The queue “default” is paused.", link: .queue("default"))
    #expect(finding("Pauses", health) == expected)
    #expect(health.level == .warning)
  }
}
#endif
