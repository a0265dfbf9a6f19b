/// Finds waiting jobs whose kind or version no living worker of their queue knows.
struct UnknownKinds {
  private struct Group: Hashable {
    let queue: String
    let kind: JobKind
    let version: Int
  }

  private var reported: Set<Group> = []

  /// The time that jobs can wait without a report, for example for the workers of a new release.
  static let patience = Duration.seconds(60)

  /// Compares the waiting jobs of a store with the kinds that its workers support.
  ///
  /// - Parameter snapshot: The waiting jobs and the workers.
  /// - Returns: The jobs that have waited for at least ``patience`` for a worker that supports their kind. Each kind is
  ///   returned once, until a worker supports it.
  mutating func update(_ snapshot: JobsSnapshot) -> [(jobs: WaitingJobs, queue: String)] {
    let coverage = WorkerCoverage(snapshot.workers)
    var current: Set<Group> = []
    var found: [(jobs: WaitingJobs, queue: String)] = []
    for queue in snapshot.queues {
      for jobs in queue.waiting where snapshot.time - jobs.waitStartTime >= Self.patience {
        guard !coverage.supports(jobs.kind, version: jobs.version, in: queue.name) else { continue }
        let group = Group(queue: queue.name, kind: jobs.kind, version: jobs.version)
        current.insert(group)
        if !reported.contains(group) { found.append((jobs, queue.name)) }
      }
    }
    reported = current
    return found
  }
}
