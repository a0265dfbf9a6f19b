import Headway
import Synchronization

/// Adds jobs to a store, and reads and changes existing jobs.
///
/// ```swift
/// let jobs = Jobs(MemoryJobStore())
/// let handle = try await jobs.enqueue(Resize(path: "photo.jpg"))
/// let size = try await handle.value
/// ```
///
/// You can use all members from any task or thread, and in any number of processes with the same store. A ``JobWorker``
/// runs the jobs.
public final class Jobs: Sendable {
  /// The store that keeps the jobs.
  public let store: any JobStore
  /// The functions of the store.
  @_spi(JobStore) public let backend: any JobStoreBackend

  /// The person who makes the changes of this object; nil if they are not recorded.
  public let author: String?

  let waiters: JobWaiters
  let eventLog: JobEventLog
  /// The object without an author that this one uses; nil if this one has no author.
  private let base: Jobs?
  private let currentTracing = Mutex<(any JobTracing)?>(nil)

  /// Creates an object for the jobs of a store.
  ///
  /// - Parameters:
  ///   - store: The store that contains the jobs.
  ///   - clock: Measures the time until the store is read again, for callers that wait.
  public init(_ store: some JobStore, clock: some Clock<Duration> = ContinuousClock()) {
    self.store = store
    backend = store.access.backend
    waiters = JobWaiters(backend, clock: clock)
    (eventLog, author, base) = (JobEventLog(), nil, nil)
  }

  /// Creates an object that uses another one and records its changes.
  init(_ other: Jobs, author: String) {
    let base = other.base ?? other
    (store, backend, waiters, eventLog) = (base.store, base.backend, base.waiters, base.eventLog)
    (self.author, self.base) = (author, base)
  }

  deinit { if base == nil { eventLog.end() } }

  /// Records the spans of attempts.
  package var tracing: (any JobTracing)? {
    get { base?.tracing ?? currentTracing.withLock(\.self) }
    set {
      if let base { return base.tracing = newValue }
      // The former one is released after the lock.
      let former = currentTracing.withLock { current in
        defer { current = newValue }
        return current
      }
      withExtendedLifetime(former) {}
    }
  }

  // MARK: Adding

  /// Stores a job.
  ///
  /// When the function returns, the job is durable: it will run and end even if this process crashes.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// let newYear = Date(timeIntervalSince1970: 1_798_761_600)
  /// try await jobs.enqueue(Publish(), .startDate(newYear), .priority(.high))
  /// ```
  ///
  /// - Parameters:
  ///   - job: The job to store, which is encoded with `Codable`.
  ///   - options: Options of the job. They take precedence over the options of the type.
  /// - Returns: A handle to the new job, or to the job that holds the key.
  /// - Throws: ``JobError``, for example with the code ``JobError/Code/payloadTooLarge``, or
  ///   ``JobError/Code/unknownJob`` if the job waits for one that the store does not have. The job was not stored.
  /// - Precondition: The kind of the job is not empty, no duration is negative, and limits are positive.
  @discardableResult
  public func enqueue<Type: Job>(
    _ job: Type, _ options: JobOption...
  ) async throws -> JobHandle<Type.Output> {
    let options = JobOptions(options)
    let new = try checked(NewJob(job, options: options))
    let enqueued = try await store([new], options.fullQueuePolicy ?? Type.options.fullQueuePolicy)[0]
    noteEnqueued(enqueued, new)
    return handle(enqueued)
  }

  /// Stores jobs of one type, all or none.
  ///
  /// - Parameters:
  ///   - batch: The jobs to store, in order.
  ///   - options: Options of each job. They take precedence over the options of the type.
  /// - Returns: A handle to each job, in the same order.
  /// - Throws: ``JobError``. None of the jobs was stored.
  @discardableResult
  public func enqueue<Type: Job>(
    contentsOf batch: some Sequence<Type>, _ options: JobOption...
  ) async throws -> [JobHandle<Type.Output>] {
    let options = JobOptions(options)
    let new = try batch.map { try checked(NewJob($0, options: options)) }
    guard !new.isEmpty else { return [] }
    let enqueued = try await store(new, options.fullQueuePolicy ?? Type.options.fullQueuePolicy)
    for (enqueued, new) in zip(enqueued, new) { noteEnqueued(enqueued, new) }
    return enqueued.map(handle)
  }

  /// Posts the event of a new job.
  @_spi(JobStore) public func noteEnqueued(_ enqueued: Enqueued, _ new: NewJob) {
    if enqueued.isNew { eventLog.post(.enqueued(enqueued.id, kind: new.kind, queue: new.queue)) }
  }

  /// Encodes a job and checks its size and names, for stores that can enqueue in a transaction of the caller.
  ///
  /// - Parameters:
  ///   - job: The job to encode.
  ///   - options: Options of the job. They take precedence over the options of the type.
  /// - Returns: The encoded job with all its options.
  /// - Throws: ``JobError`` with the code ``JobError/Code/payloadTooLarge``, ``JobError/Code/nameTooLong`` or
  ///   ``JobError/Code/unencodablePayload``.
  @_spi(JobStore) public func encode(_ job: some Job, options: JobOptions) throws -> NewJob {
    try checked(NewJob(job, options: options))
  }

  func checked(_ new: NewJob) throws -> NewJob {
    try NameLength.check(new)
    try check(new.payload, "The payload of a job of the kind \(new.kind)")
    guard let tracing else { return new }
    var new = new
    new.settings.traceContext = tracing.traceContext()
    return new
  }

  /// Checks that the store accepts a payload of this size.
  func check(_ payload: JobPayload, _ subject: @autoclosure () -> String) throws {
    let (size, limit) = (payload.bytes.count, store.maxPayloadSize)
    guard size > limit else { return }
    throw JobError(
      .payloadTooLarge,
      "\(subject()) has \(size) bytes, but the store accepts \(limit). Store the data elsewhere, and its location in "
        + "the job.")
  }

  /// Creates the handle of a job.
  ///
  /// - Parameter enqueued: The answer of the store.
  /// - Returns: A handle to the new job, or to the job that holds its key.
  @_spi(JobStore) public func handle<Output: Sendable>(_ enqueued: Enqueued) -> JobHandle<Output> {
    JobHandle(id: enqueued.id, isNew: enqueued.isNew, jobs: self)
  }

  /// Returns a handle to a stored job.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - type: The type of the job.
  /// - Returns: A handle whose `isNew` is false. Whether the job exists is not checked.
  public func handle<Type: Job>(id: JobID, of type: Type.Type) -> JobHandle<Type.Output> {
    JobHandle(id: id, isNew: false, jobs: self)
  }

  // MARK: Reading

  /// Returns a job.
  ///
  /// - Parameter id: The ID of the job.
  /// - Returns: The job, or nil if the store has no job with this number, or it was deleted.
  /// - Throws: ``JobError``.
  public func job(_ id: JobID) async throws -> JobRecord? {
    try await backend.jobs(.id(id), after: nil, limit: 1).first
  }

  /// Returns jobs ordered by ID.
  ///
  /// - Parameters:
  ///   - filter: Which jobs.
  ///   - id: Only jobs with greater IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs; not negative.
  /// - Returns: The matching jobs, at most `limit`.
  /// - Throws: ``JobError``.
  public func jobs(_ filter: JobFilter = .all, after id: JobID? = nil, limit: Int = 1_000) async throws -> [JobRecord] {
    require(limit >= 0, "The jobs of a store are read with the limit \(limit): use 0 or more.")
    return try await backend.jobs(filter, after: id, limit: limit)
  }

  /// Returns how many jobs of each queue are in each state, and the settings of the queues.
  ///
  /// - Returns: The counts by queue, for queues that have jobs, are paused, or have settings.
  /// - Throws: ``JobError``.
  public func counts() async throws -> [String: JobQueueCounts] { try await backend.counts() }
}
