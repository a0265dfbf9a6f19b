import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization

extension JobsBench {
  /// Runs a mode that only Headway has.
  func runAlone() async throws -> [String: Any] {
    switch options.mode {
    case .idle: try await rest()
    case .latency: try await measureLatency()
    case .steady: try await runSteadily()
    case .queues: try await serveManyQueues()
    case .produce: try await produceTimed()
    case .graph: try await storeGraph()
    case .schedules: try await tickSchedules()
    default: try await runBesideWaiting()
    }
  }

  /// Measures the time from when a job is enqueued through another store, as by another process, to when it runs.
  private func measureLatency() async throws -> [String: Any] {
    startWorker()
    let other = Jobs(try await OpenedStore(options.store).store)
    var waits: [Double] = []
    for number in 0..<options.jobCount {
      // The worker has nothing to do before each job, and a store sends at most ten notifications per second.
      try await Task.sleep(for: .milliseconds(150))
      let start = Date()
      try await other.enqueue(Count(number, size: options.payloadSize))
      while Count.counter.value.count <= number { try await Task.sleep(for: .microseconds(100)) }
      waits.append(Date().timeIntervalSince(start) * 1_000)
    }
    try await stopWorker()
    waits.sort()
    return [
      "mode": "latency", "jobs": options.jobCount, "medianMilliseconds": waits[waits.count / 2],
      "percentile99Milliseconds": waits[waits.count * 99 / 100],
    ]
  }

  /// Enqueues jobs at a constant rate and measures how long each job waits until it runs.
  private func runSteadily() async throws -> [String: Any] {
    startWorker([Timed.self])
    let (jobs, start) = (jobs, ContinuousClock.now)
    let count = Int(Double(options.rate) * options.seconds)
    for number in 0..<count {
      try await Task.sleep(until: start + .seconds(1) * Double(number) / Double(options.rate), clock: .continuous)
      try await jobs.enqueue(Timed(number: number, sent: Date().timeIntervalSinceReferenceDate))
    }
    let backlog = count - Timed.waits.withLock(\.count)
    while Timed.waits.withLock(\.count) < count { try await Task.sleep(for: .milliseconds(1)) }
    try await stopWorker()
    let waits = Timed.takeWaits()
    func percentile99(_ part: ArraySlice<Double>) -> Double { part.sorted()[part.count * 99 / 100] * 1_000 }
    return [
      "mode": "steady", "jobs": count, "jobsPerSecond": options.rate, "backlog": backlog,
      "firstTenthPercentile99Milliseconds": percentile99(waits.prefix(count / 10)),
      "lastTenthPercentile99Milliseconds": percentile99(waits.suffix(count / 10)),
    ]
  }

  /// Runs jobs while many others wait.
  private func runBesideWaiting() async throws -> [String: Any] {
    let count = options.waitingCount + options.jobCount
    while enqueuedCount < count {
      try await enqueueInBatches(newJobs(min(10 * Self.batchSize, count - enqueuedCount)))
    }
    let memory = ProcessFigures.residentBytes()
    let start = Date()
    startWorker()
    while Count.counter.value.count < options.jobCount { try await Task.sleep(for: .milliseconds(1)) }
    let seconds = Date().timeIntervalSince(start)
    let report: [String: Any] = [
      "mode": "waiting", "waiting": options.waitingCount, "jobs": options.jobCount, "seconds": seconds,
      "jobsPerSecond": Double(options.jobCount) / seconds,
      "residentMegabytes": Double(ProcessFigures.residentBytes()) / 1e6,
      "residentMegabytesBefore": Double(memory) / 1e6,
    ]
    try await stopWorker()
    return report
  }

  /// Measures a worker that has nothing to do.
  private func rest() async throws -> [String: Any] {
    startWorker()
    try await jobs.enqueue(Count(0, size: options.payloadSize)).value
    try await Task.sleep(for: .seconds(2))
    let (processor, written) = (ProcessFigures.processorSeconds(), try ProcessFigures.writtenBytes())
    try await Task.sleep(for: .seconds(options.seconds))
    let report: [String: Any] = [
      "mode": "idle", "seconds": options.seconds,
      "processorPercent": (ProcessFigures.processorSeconds() - processor) / options.seconds * 100,
      "writtenBytes": try ProcessFigures.writtenBytes() - written,
    ]
    try await stopWorker()
    return report
  }
}
