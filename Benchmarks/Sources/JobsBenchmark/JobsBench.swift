import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs

/// Runs one mode for a number of jobs, as often as it is called.
final class JobsBench {
  static let batchSize = 1_000

  let opened: OpenedStore
  let jobs: Jobs
  let options: BenchmarkOptions
  private(set) var enqueuedCount = 0
  private var worker: JobWorker?
  private var running: Task<Void, any Error>?

  init(_ opened: OpenedStore, _ options: BenchmarkOptions) {
    self.opened = opened
    self.options = options
    jobs = Jobs(opened.store)
  }

  var store: any JobStoreBackend { opened.store }

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - kinds: The types of its jobs.
  ///   - serve: Makes it serve queues; by default, the default queue.
  func startWorker(
    _ kinds: [any Job.Type] = [Count.self], _ serve: (JobWorker) -> Void = { $0.serve(on: OperationQueue()) }
  ) {
    // No mode stops a worker whose jobs should continue.
    let worker = JobWorker(jobs, kinds: kinds, gracePeriod: .zero)
    serve(worker)
    self.worker = worker
    running = Task { try await worker.run() }
  }

  func stopWorker() async throws {
    worker?.stop()
    try await running?.value
  }

  /// Repeats the work, for one second each time, and returns the jobs per second of the last repetition.
  func warmUp(for seconds: Double, least: Int) async throws -> Double {
    let end = Date() + seconds
    var count = least
    while true {
      let rate = try await Double(count) / run(count).seconds
      let left = end.timeIntervalSinceNow
      guard left > 0 else { return rate }
      count = max(least, roundedUp(rate * min(left, 1), to: least))
    }
  }

  func run(_ count: Int) async throws -> (seconds: Double, processorSeconds: Double) {
    let batch = newJobs(count)
    if options.mode == .drain { try await enqueueInBatches(batch) }
    let (start, processor) = (Date(), ProcessFigures.processorSeconds())
    switch options.mode {
    case .through:
      try await produce(batch)
      try await waitForEnds()
    case .drain:
      startWorker()
      try await waitForEnds()
    case .single: for job in batch { try await jobs.enqueue(job) }
    default: try await enqueueInBatches(batch)
    }
    let result = (Date().timeIntervalSince(start), ProcessFigures.processorSeconds() - processor)
    if options.mode == .drain { try await stopWorker() }
    return result
  }

  func newJobs(_ count: Int) -> [Count] {
    let batch = (0..<count).map { Count(enqueuedCount + $0, size: options.payloadSize) }
    enqueuedCount += count
    return batch
  }

  private func produce(_ batch: [Count]) async throws {
    let (jobs, count) = (jobs, options.producerCount)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in 0..<count {
        group.addTask {
          for index in stride(from: first, to: batch.count, by: count) { try await jobs.enqueue(batch[index]) }
        }
      }
      try await group.waitForAll()
    }
  }

  func enqueueInBatches(_ batch: [Count]) async throws {
    for start in stride(from: 0, to: batch.count, by: Self.batchSize) {
      try await jobs.enqueue(contentsOf: batch[start..<min(start + Self.batchSize, batch.count)])
    }
  }

  /// Waits until the ends of all jobs are recorded, then checks that each job has run once.
  private func waitForEnds() async throws {
    // Counting the rows takes a while, so it begins when all jobs have run.
    while Count.counter.value.count < enqueuedCount { try await Task.sleep(for: .milliseconds(1)) }
    while try await store.counts()[JobOptions.defaultQueue]?[.succeeded] != enqueuedCount {
      try await Task.sleep(for: .milliseconds(1))
    }
    let (count, sum) = Count.counter.value
    guard count == enqueuedCount, sum == enqueuedCount * (enqueuedCount - 1) / 2 else {
      throw UsageError(text: "\(count) jobs ran instead of \(enqueuedCount), or other ones")
    }
  }
}
