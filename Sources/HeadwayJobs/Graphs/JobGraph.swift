public import Headway

/// The changes of jobs that depend on each other, as pure functions that all stores share.
///
/// An unfinished job waits for as many dependencies as it has edges with the status ``JobEdge/Status/unmet``. Its
/// record contains the number as ``JobRecord/unmetCount``, and the job is held while the number is not zero. When a job
/// with ``JobRecord/hasDependents`` ends, the store settles its edges in the same transaction:
///
/// 1. Edges whose requirement is fulfilled become met in ascending order of the dependent's ID, and ``meet(_:at:)``
///    decrements the number. A job whose last dependency is met becomes ready. At most ``maxMetCount`` edges become met
///    in one transaction.
/// 2. The other edges become failed, and ``cancel(_:because:at:)`` ends the dependents. The edges of these are settled
///    next. At most ``maxCascadeCount`` edges fail in one transaction.
///
/// The store notes which jobs still have unmet edges and continues when it advances. Until then, these edges hold their
/// dependents.
@_spi(JobStore) public enum JobGraph {
  /// The maximum number of dependents that a transaction cancels.
  public static let maxCascadeCount = 1_000
  /// The maximum number of dependencies that a transaction marks as met.
  public static let maxMetCount = 5_000

  /// The state of a job that other jobs depend on.
  public struct Standing: Hashable, Sendable {
    /// The job.
    public var id: JobID
    /// The state of the job.
    public var state: JobState
    /// The job that failed or was cancelled first: this job, or a job that it depends on.
    public var culprit: JobID

    /// Creates a standing.
    ///
    /// - Parameters:
    ///   - id: The ID of the job.
    ///   - state: Its state.
    ///   - culprit: The job that failed or was cancelled first; the job itself by default.
    public init(id: JobID, state: JobState, culprit: JobID? = nil) {
      self.id = id
      self.state = state
      self.culprit = culprit ?? id
    }

    /// Creates the standing of a job.
    ///
    /// - Parameter job: A job that other jobs depend on.
    public init(_ job: JobRecord) { self.init(id: job.id, state: job.state, culprit: job.reason?.culprit) }
  }

  /// Returns the status of a dependency.
  ///
  /// - Parameters:
  ///   - requirement: Whether the dependency must only end, or must succeed.
  ///   - state: Its state.
  /// - Returns: The status of the edge.
  public static func status(of requirement: DependencyRequirement, in state: JobState) -> JobEdge.Status {
    guard state.isFinished else { return .unmet }
    return requirement == .completion || state == .succeeded ? .met : .failed
  }

  /// Returns the edges of a new job: one for each dependency, with the stricter requirement if there are several.
  ///
  /// - Parameters:
  ///   - id: The ID of the new job, which is the dependent of each edge.
  ///   - dependencies: The requirements of the job, with the states of the jobs that it depends on.
  /// - Returns: The edges, ordered by the dependency's ID.
  public static func edges(
    of id: JobID, _ dependencies: [(requirement: DependencyRequirement, standing: Standing)]
  ) -> [JobEdge] {
    var edges: [JobID: JobEdge] = [:]
    for (requirement, standing) in dependencies where edges[standing.id]?.requirement != .success {
      edges[standing.id] = JobEdge(
        dependency: standing.id, dependent: id, requirement: requirement,
        status: status(of: requirement, in: standing.state))
    }
    return edges.values.sorted { $0.dependency < $1.dependency }
  }

  /// Returns the job that keeps a new job from running.
  ///
  /// - Parameter dependencies: The requirements of the job, with the states of the jobs that it depends on.
  /// - Returns: The culprit of the first dependency that has failed; nil if there is none.
  public static func culprit(
    of dependencies: [(requirement: DependencyRequirement, standing: Standing)]
  ) -> JobID? {
    dependencies.first { status(of: $0.requirement, in: $0.standing.state) == .failed }?.standing.culprit
  }

  /// Holds a job that must wait for other jobs.
  ///
  /// - Parameters:
  ///   - job: A new job, or one that is run again.
  ///   - count: The number of dependencies that have not ended.
  public static func hold(_ job: inout JobRecord, for count: Int) {
    job.unmetCount = count
    if count > 0 { job.state = .held }
  }

  /// Notes that a dependency of a held job has ended as required.
  ///
  /// - Parameters:
  ///   - job: A job that still has unmet edges.
  ///   - now: The time of the store's clock.
  /// - Returns: True if it was the last unmet dependency. The job is then waiting or scheduled.
  public static func meet(_ job: inout JobRecord, at now: StoreTime) -> Bool {
    job.unmetCount -= 1
    guard job.unmetCount == 0 else { return false }
    if let due = job.dueTime, due <= now { job.dueTime = nil }
    job.state = job.dueTime == nil ? .waiting : .scheduled
    return true
  }

  /// Cancels a job whose dependency had to succeed, but failed or was cancelled.
  ///
  /// - Parameters:
  ///   - job: A held job, or a new one.
  ///   - culprit: The job that failed or was cancelled first.
  ///   - now: The time of the store's clock.
  public static func cancel(_ job: inout JobRecord, because culprit: JobID, at now: StoreTime) {
    let reason = JobEndReason(.dependencyFailed, "It waited for the success of job \(culprit).", culprit: culprit)
    JobTransitions.finish(&job, .cancelled, reason, at: now)
  }
}
