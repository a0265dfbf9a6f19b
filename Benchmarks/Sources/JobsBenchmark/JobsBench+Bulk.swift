import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs

/// Many rows that one call changes.
extension JobsBench {
  private static let layerSize = 1_000
  private static let tickedQueue = "ticked"

  /// Measures how long it takes to store a graph.
  ///
  /// It consists of layers. Each job waits for the success of two jobs of the layer before.
  func storeGraph() async throws -> [String: Any] {
    var (batch, last) = (JobBatch(), [JobBatch.Entry<Void>]())
    var jobs = newJobs(options.jobCount)[...]
    while !jobs.isEmpty {
      let former = last
      last = jobs.prefix(Self.layerSize).enumerated().map { index, job in
        guard !former.isEmpty else { return batch.add(job) }
        return batch.add(job, .after([former[index].success, former[(index + 1) % former.count].success]))
      }
      jobs = jobs.dropFirst(Self.layerSize)
    }
    let (start, processor) = (Date(), ProcessFigures.processorSeconds())
    try await self.jobs.enqueue(batch)
    let seconds = Date().timeIntervalSince(start)
    return [
      "mode": "graph", "jobs": options.jobCount, "seconds": seconds,
      "processorSeconds": ProcessFigures.processorSeconds() - processor,
    ]
  }

  /// Measures how long a worker with a running job takes to add the jobs of schedules that are due at the same time.
  ///
  /// The worker's lease is lost if the worker is not able to confirm it in the meantime.
  func tickSchedules() async throws -> [String: Any] {
    let count = options.jobCount
    try await jobs.schedule(
      "schedule", try .cron("* * * * *"), job: Count(0, size: options.payloadSize), .queue(Self.tickedQueue))
    // Setting each schedule takes a commit.
    try await opened.execute(
      """
      INSERT INTO \(opened.schedules) (name, definition, anchor, decided, last_tick, last_job, paused, next, gaps)
      WITH RECURSIVE copy(number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM copy WHERE number < \(count))
      SELECT name || '-' || number, definition, anchor, decided, last_tick, last_job, paused, next, gaps
      FROM \(opened.schedules) CROSS JOIN copy
      """)
    // The next minute begins a second from now at the earliest, so that the last schedule is due, too.
    let now = Date().timeIntervalSince1970
    try await Task.sleep(for: .seconds(((now + 1) / 60).rounded(.up) * 60 - now + 0.1))
    var events = jobs.events(keeping: 10_000).makeAsyncIterator()
    try await jobs.enqueue(Held())
    startWorker([Held.self])
    let (start, processor) = (Date(), ProcessFigures.processorSeconds())
    while try await store.counts()[Self.tickedQueue]?.byState.values.reduce(0, +) ?? 0 < count {
      try await Task.sleep(for: .milliseconds(50))
    }
    let (seconds, used) = (Date().timeIntervalSince(start), ProcessFigures.processorSeconds() - processor)
    try await stopWorker()
    var lostCount = 0
    // The stop is the last event.
    while let event = await events.next() {
      if case .leaseLost = event { lostCount += 1 }
      if case .workerStopped = event { break }
    }
    return [
      "mode": "schedules", "schedules": count, "seconds": seconds, "processorSeconds": used, "lostLeases": lostCount,
    ]
  }
}
