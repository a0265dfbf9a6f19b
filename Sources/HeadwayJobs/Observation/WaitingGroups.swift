/// Counts the waiting jobs of a store by queue, kind and version, from the indexes of the store.
@_spi(JobStore) public struct WaitingGroups {
  /// Waiting jobs of a queue with the same kind and version.
  public struct Group: Hashable {
    /// The queue.
    public let queue: String
    /// The kind.
    public let kind: String
    /// The version of the payloads.
    public let version: Int

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - queue: The queue that the jobs wait in.
    ///   - kind: The kind of the jobs.
    ///   - version: The version of the payloads.
    public init(queue: String, kind: String, version: Int) {
      (self.queue, self.kind, self.version) = (queue, kind, version)
    }
  }

  /// A waiting job that might be the first one of its group.
  public struct First {
    let id: JobID
    let position: Int64
    let enqueuedTime: StoreTime
    let readyTime: StoreTime
    let history: [UInt8]?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - id: The ID of the job.
    ///   - position: The place of the job in its queue.
    ///   - enqueuedTime: When the job was added.
    ///   - readyTime: When the job took that place.
    ///   - history: The stored form of the history; nil if it is empty.
    public init(id: JobID, position: Int64, enqueuedTime: StoreTime, readyTime: StoreTime, history: [UInt8]?) {
      (self.id, self.position, self.history) = (id, position, history)
      (self.enqueuedTime, self.readyTime) = (enqueuedTime, readyTime)
    }

    /// When the job began to wait for a worker.
    fileprivate var waitStartTime: StoreTime {
      let history = history.flatMap { try? JobHistory(stored: $0) } ?? JobHistory()
      return history.waitStartTime(enqueuedAt: enqueuedTime, readyAt: readyTime)
    }
  }

  private struct Waiting {
    var count = 0
    var first: First?
  }

  private var groups: [Group: Waiting] = [:]

  /// Creates an empty list of groups.
  public init() {}

  /// Adds to the number of jobs of a group.
  public mutating func add(_ count: Int, to group: Group) { groups[group, default: Waiting()].count += count }

  /// Notes a job that might be the first one of its group.
  public mutating func note(_ job: First, in group: Group) {
    if job.position < groups[group]?.first?.position ?? .max { groups[group, default: Waiting()].first = job }
  }

  /// The groups of each queue.
  ///
  /// A group whose jobs were not counted has at least the job that was noted.
  public var waitingJobs: [String: [WaitingJobs]] {
    var waitingJobs: [String: [WaitingJobs]] = [:]
    for (group, waiting) in groups {
      guard let first = waiting.first else { continue }
      waitingJobs[group.queue, default: []].append(
        WaitingJobs(
          kind: JobKind(rawValue: group.kind), version: group.version, count: max(1, waiting.count), first: first.id,
          waitStartTime: first.waitStartTime))
    }
    return waitingJobs
  }
}
