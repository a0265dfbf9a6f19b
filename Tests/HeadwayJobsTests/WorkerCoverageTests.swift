#if Jobs
import Testing

@_spi(JobStore) @testable import HeadwayJobs

@Suite struct WorkerCoverageTests {
  private func worker(
    _ number: Int64, queues: [String], patterns: [String] = [], kinds: [JobKind: Int] = ["mail": 2],
    isAlive: Bool = true
  ) -> JobWorkerSnapshot {
    JobWorkerSnapshot(
      id: WorkerID(rawValue: number),
      description: WorkerDescription(
        name: "worker", processIdentifier: Int32(number), queues: queues, queuePatterns: patterns, kinds: kinds),
      startTime: StoreTime(microseconds: 0), isAlive: isAlive)
  }

  @Test("J372: the checks of many queues compare each combination of queues and kinds of workers once")
  func coverage() {
    let coverage = WorkerCoverage(
      (1..<50).map { worker($0, queues: ["a"], patterns: ["tenant-*"]) }
        + [worker(60, queues: ["b"], kinds: ["image": 1]), worker(61, queues: ["dead"], isAlive: false)])
    #expect(
      ["a", "b", "c", "dead", "tenant-7", "tenant"].map(coverage.serves) == [true, true, false, false, true, false])
    #expect(coverage.supports("mail", version: 2, in: "tenant-7"))
    #expect(!coverage.supports("mail", version: 3, in: "tenant-7"))
    #expect(!coverage.supports("mail", version: 1, in: "b"))
    #expect(coverage.supports("image", version: 1, in: "b"))
    #expect(!WorkerCoverage([]).serves("a"))
  }
}
#endif
