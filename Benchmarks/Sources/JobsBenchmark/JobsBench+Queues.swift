import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// A worker that serves many queues.
extension JobsBench {
  /// The time between two jobs.
  ///
  /// The worker has nothing to do before each job, and a store sends at most ten notifications per second.
  private static let pause = Duration.milliseconds(150)

  private func queue(_ number: Int) -> String { "queue-\(number)" }

  /// Measures the resources that the worker uses while no queue has jobs, and the waiting times of jobs enqueued by
  /// this process and by another one.
  func serveManyQueues() async throws -> [String: Any] {
    startWorker([Timed.self]) { worker in
      if options.usesPattern { return worker.serve(matching: "queue-*", on: OperationQueue()) }
      for number in 0..<options.queueCount { worker.serve(queue(number), on: OperationQueue()) }
    }
    // A queue that matches the pattern is served after its first job.
    for number in 0..<options.queueCount {
      try await jobs.enqueue(Timed(number: number, sent: 0), .queue(queue(number)))
    }
    try await waitForTimed(options.queueCount)
    try await Task.sleep(for: .seconds(2))
    let processor = ProcessFigures.processorSeconds()
    try await Task.sleep(for: .seconds(options.seconds))
    let used = ProcessFigures.processorSeconds() - processor
    _ = Timed.takeWaits()
    _ = try await produceTimed()
    try await waitForTimed(options.jobCount)
    let own = Timed.takeWaits()
    try await produceElsewhere()
    try await waitForTimed(options.jobCount)
    let others = Timed.takeWaits()
    try await stopWorker()
    var report: [String: Any] = [
      "mode": "queues", "queues": options.queueCount, "seconds": options.seconds,
      "processorPercent": used / options.seconds * 100, "jobs": options.jobCount,
    ]
    for (name, waits) in [("same", own.sorted()), ("other", others.sorted())] {
      report["\(name)ProcessMedianMilliseconds"] = waits[waits.count / 2] * 1_000
      report["\(name)ProcessPercentile99Milliseconds"] = waits[waits.count * 99 / 100] * 1_000
    }
    return report
  }

  /// Enqueues jobs that measure how long they have waited, one by one, each in another queue.
  func produceTimed() async throws -> [String: Any] {
    for number in 0..<options.jobCount {
      try await Task.sleep(for: Self.pause)
      let job = Timed(number: number, sent: Date().timeIntervalSinceReferenceDate)
      // 7,919 is prime, so that the queues are not in their order.
      try await jobs.enqueue(job, .queue(queue(number * 7_919 % options.queueCount)))
    }
    return ["mode": "produce", "jobs": options.jobCount]
  }

  private func produceElsewhere() async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = [
      "produce", "--store", options.store, "--jobs", "\(options.jobCount)", "--queues", "\(options.queueCount)",
    ]
    process.standardOutput = FileHandle.nullDevice
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    guard status == 0 else { throw UsageError(text: "the process that enqueues ended with status \(status)") }
  }

  private func waitForTimed(_ count: Int) async throws {
    while Timed.waits.withLock(\.count) < count { try await Task.sleep(for: .milliseconds(1)) }
  }
}
