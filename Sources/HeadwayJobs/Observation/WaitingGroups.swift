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

  private struct Waiting {
    var count = 0
    var first: JobID?
    var position = Int64.max
  }

  private var groups: [Group: Waiting] = [:]

  /// Creates an empty list of groups.
  public init() {}

  /// Adds to the number of jobs of a group.
  public mutating func add(_ count: Int, to group: Group) { groups[group, default: Waiting()].count += count }

  /// Notes a job that might be the first one of its group.
  public mutating func note(_ id: JobID, at position: Int64, in group: Group) {
    var waiting = groups[group] ?? Waiting()
    if position < waiting.position { (waiting.first, waiting.position) = (id, position) }
    groups[group] = waiting
  }

  /// Returns the groups of each queue.
  ///
  /// - Parameter read: Reads the first jobs of the groups.
  /// - Throws: The error of the function.
  /// - Returns: The groups, without those whose first job is missing.
  public func waitingJobs(_ read: ([JobID]) throws -> [JobRecord]) rethrows -> [String: [WaitingJobs]] {
    let jobs = try read(groups.values.compactMap(\.first))
    let firstJobs = Dictionary(jobs.map { ($0.id, $0) }) { first, _ in first }
    var waitingJobs: [String: [WaitingJobs]] = [:]
    for (group, waiting) in groups {
      guard let first = waiting.first.flatMap({ firstJobs[$0] }) else { continue }
      waitingJobs[group.queue, default: []].append(
        WaitingJobs(
          kind: first.kind, version: group.version, count: waiting.count, first: first.id,
          waitStartTime: first.waitStartTime))
    }
    return waitingJobs
  }
}
