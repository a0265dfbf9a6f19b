public import Headway
@_spi(JobStore) public import HeadwayJobs
public import HeadwayTestKit

/// Jobs for a test: a store whose time the test moves, and functions that run jobs in it.
///
/// ```swift
/// let test = JobTest()
/// let size = try await test.perform(Resize(path: "photo.jpg"))
/// let later = try await test.enqueued(Publish.self)
/// let report = try await test.drain(Publish.self)
/// print(size, later.map(\.record.queue), report.succeededCount)
/// ```
///
/// Create an object for each test, so that tests can run in parallel. You can call the functions from any task.
public final class JobTest: Sendable {
  /// The object that adds jobs to the store and reads and changes them.
  ///
  /// Pass this object to the code under test.
  public let jobs: Jobs
  /// The queue that runs the jobs of ``drain(_:for:)``: one job at a time.
  ///
  /// A job is claimed only after the one before it has ended, so the jobs of a queue of the store run in the order of
  /// that queue. The order of jobs in different queues of the store is not specified.
  ///
  /// If a job of the test waits for the value of another job, increase the limit of the queue.
  public let operationQueue = OperationQueue(maxConcurrentOperationCount: 1)
  /// The store's clock; nil if the test can't move the store's time.
  let manualClock: ManualClock?

  /// The time of a new store in memory: January 15, 2027, 08:00 in UTC.
  public static let defaultStartTime = StoreTime(microseconds: 1_800_000_000_000_000)

  /// Creates an empty `MemoryJobStore` that uses a new ``clock``.
  ///
  /// - Parameter startTime: The time of the store until the clock is moved, for example the time before a tick of a
  ///   schedule.
  public init(startTime: StoreTime = defaultStartTime) {
    let clock = ManualClock()
    manualClock = clock
    jobs = Jobs(MemoryJobStore(clock: clock, startTime: startTime), clock: clock)
  }

  /// Uses an existing store, for example an empty `SQLiteJobStore` in a temporary folder.
  ///
  /// The test can't move the time of the store, so ``drain(_:for:)`` runs only jobs that are due now, and ``clock``
  /// can't be used.
  ///
  /// - Parameter jobs: The object for the jobs of the store.
  public init(jobs: Jobs) {
    manualClock = nil
    self.jobs = jobs
  }

  /// The store of the jobs.
  public var store: any JobStore { jobs.store }

  /// The clock of the in-memory store.
  ///
  /// If you move the clock, jobs, retries and schedules become due. They run in the next ``drain(_:for:)``.
  ///
  /// - Precondition: The object was created by ``init(startTime:)``.
  public var clock: ManualClock {
    guard let manualClock else {
      misuse("The time of \(type(of: store)) can't be moved: create the test with JobTest(), or don't use its clock.")
    }
    return manualClock
  }

  /// Returns the jobs of a type that have been added and have not started, with their decoded values.
  ///
  /// These are the jobs that wait for a worker, for a time or for other jobs. To find jobs in other states, call
  /// `jobs(of:_:after:limit:)` of ``jobs``.
  ///
  /// - Parameters:
  ///   - type: The type of the jobs.
  ///   - queue: The queue of the store that the jobs wait in; nil for all queues.
  /// - Returns: The jobs, in insertion order.
  /// - Throws: `JobError`, for example with the code `undecodablePayload` if a job can't be decoded.
  public func enqueued<Type: Job>(_ type: Type.Type, queue: String? = nil) async throws -> [StoredJob<Type>] {
    let filter = JobFilter(states: JobState.changeable, queues: queue.map { [$0] })
    var (found, pageSize) = ([StoredJob<Type>](), 1_000)
    while true {
      let page = try await jobs.jobs(of: type, filter, after: found.last?.record.id, limit: pageSize)
      found += page
      if page.count < pageSize { return found }
    }
  }
}
