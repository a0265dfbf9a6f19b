import Headway
import Synchronization

/// Jobs that are stored as a whole or not at all and can wait for each other.
///
/// ```swift
/// var batch = JobBatch()
/// let first = batch.add(Resize(path: "first.jpg"))
/// let second = batch.add(Resize(path: "second.jpg"))
/// batch.add(Publish(), .after(first.success, second.success))
/// let handles = try await jobs.enqueue(batch)
/// print(try await handles[first].value)
/// ```
///
/// A batch is stored in one transaction, no matter how many jobs it has. On SQLite, other processes can't write in the
/// meantime, so divide very large batches if their jobs don't depend on each other.
public struct JobBatch: Sendable {
  /// A job of a batch.
  public struct Entry<Output: Sendable>: JobReference, Hashable {
    let index: Int
    let batchNumber: Int

    /// The job as a dependency that must end.
    public var dependency: JobDependency {
      var dependency = JobDependency(.batch(index))
      dependency.batchNumber = batchNumber
      return dependency
    }
  }

  /// The handles of the stored jobs.
  public struct Handles: Sendable {
    /// The IDs of the jobs, in insertion order.
    ///
    /// If another job holds the key of a new job, the ID of the holder replaces the ID of the new job.
    public var ids: [JobID] { enqueued.map(\.id) }
    private let enqueued: [Enqueued]
    private let number: Int
    private let jobs: Jobs

    init(_ enqueued: [Enqueued], _ batch: JobBatch, _ jobs: Jobs) {
      (self.enqueued, number, self.jobs) = (enqueued, batch.number, jobs)
    }

    /// The handle of a job.
    ///
    /// - Parameter entry: An entry of the batch.
    /// - Returns: A handle to the stored job of the entry.
    /// - Precondition: The entry belongs to the batch that was stored.
    public subscript<Output: Sendable>(entry: Entry<Output>) -> JobHandle<Output> {
      require(entry.batchNumber == number, "The entry belongs to another batch. Use the handles of that batch.")
      return jobs.handle(enqueued[entry.index])
    }
  }

  private static let lastNumber = Atomic(0)

  private let number: Int
  private var items: [Result<NewJob, any Error>] = []
  /// The behavior if a queue is full: ``FullQueuePolicy/fail`` if the options of any job require it.
  private(set) var fullQueuePolicy: FullQueuePolicy?

  /// Creates an empty batch.
  public init() { number = Self.lastNumber.add(1, ordering: .relaxed).newValue }

  /// The number of jobs.
  public var count: Int { items.count }

  /// Adds a job.
  ///
  /// - Parameters:
  ///   - job: The job to add, which is encoded immediately. If it can't be encoded, the batch can't be stored.
  ///   - options: Options of the job. They take precedence over the options of the type.
  /// - Returns: The entry of the job, which other jobs of the batch can wait for.
  /// - Precondition: The entries that the job waits for belong to this batch.
  @discardableResult
  public mutating func add<Type: Job>(
    _ job: Type, _ options: JobOption...
  ) -> Entry<Type.Output> {
    let options = JobOptions(options)
    items.append(Result { try NewJob(job, options: options) })
    if options.fullQueuePolicy ?? Type.options.fullQueuePolicy == .fail { fullQueuePolicy = .fail }
    if case .success(let new) = items[count - 1] { for dependency in new.dependencies { check(dependency) } }
    return Entry(index: count - 1, batchNumber: number)
  }

  /// Makes a job of the batch wait for another job, even a job that was added later.
  ///
  /// - Parameters:
  ///   - reference: The job to wait for.
  ///   - entry: The job that waits.
  /// - Precondition: The entries belong to this batch.
  public mutating func addDependency<Output: Sendable>(_ reference: some JobReference, to entry: Entry<Output>) {
    check(entry.dependency)
    check(reference.dependency)
    items[entry.index] = items[entry.index].map { new in
      var new = new
      new.dependencies.append(reference.dependency)
      return new
    }
  }

  /// The encoded jobs.
  ///
  /// - Parameter jobs: The object that will store them. It determines the maximum size.
  /// - Returns: The new jobs, in insertion order.
  /// - Throws: ``JobError`` with the code ``JobError/Code/payloadTooLarge`` or
  ///   ``JobError/Code/unencodablePayload``.
  @_spi(JobStore) public func encoded(for jobs: Jobs) throws -> [NewJob] {
    try items.map { try jobs.checked($0.get()) }
  }

  private func check(_ dependency: JobDependency) {
    guard case .batch(let index) = dependency.target else { return }
    require(
      items.indices.contains(index) && (dependency.batchNumber ?? number) == number,
      "A dependency is an entry of another batch. Use entries of this batch, or handles of stored jobs.")
  }
}

extension Jobs {
  /// Stores the jobs of a batch as a whole or not at all.
  ///
  /// When the function returns, the jobs are durable. Jobs without dependencies might already be running.
  ///
  /// - Parameter batch: The jobs, with the dependencies between them.
  /// - Returns: The handles of the jobs.
  /// - Throws: ``JobError``, with the code ``JobError/Code/dependencyCycle`` if jobs wait for each other in a cycle, or
  ///   ``JobError/Code/unknownJob`` if one waits for a job that the store does not have. No job was stored.
  @discardableResult
  public func enqueue(_ batch: JobBatch) async throws -> JobBatch.Handles {
    let new = try batch.encoded(for: self)
    guard !new.isEmpty else { return handles(of: batch, []) }
    let enqueued = try await store(new, batch.fullQueuePolicy)
    for (enqueued, new) in zip(enqueued, new) { noteEnqueued(enqueued, new) }
    return handles(of: batch, enqueued)
  }

  /// Creates the handles of a batch.
  @_spi(JobStore) public func handles(of batch: JobBatch, _ enqueued: [Enqueued]) -> JobBatch.Handles {
    JobBatch.Handles(enqueued, batch, self)
  }
}
