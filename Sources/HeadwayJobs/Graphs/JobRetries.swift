/// Chooses the finished jobs that a command runs again.
///
/// A job is not run again while another job holds its key. It is also not run again if a dependency that had to succeed
/// has failed, unless the command runs the dependency again too. The store offers the jobs that match a filter, ordered
/// by ID. A dependency can have a greater ID than its dependents if it is a child that was added before them.
/// Therefore, there can be several passes.
package struct JobRetries {
  /// The chosen jobs, in their state after the change.
  package private(set) var jobs: [JobRecord] = []
  /// The error of the first job that can't be run again.
  package private(set) var refusal: JobError?
  private var ids: Set<JobID> = []
  private var keys: [String: JobID] = [:]
  /// The number of chosen jobs at the beginning of the pass; −1 before the first pass.
  private var countBefore = -1
  /// Whether the pass has not chosen a job because of a dependency, which might be chosen later.
  private var hasFailedDependency = true

  package init() {}

  /// Begins a pass over the jobs that match the filter.
  ///
  /// - Returns: False if another pass can't choose further jobs.
  package mutating func beginPass() -> Bool {
    guard hasFailedDependency, jobs.count > countBefore, jobs.count < JobCommand.maxChangedCount else { return false }
    (countBefore, hasFailedDependency, refusal) = (jobs.count, false, nil)
    return true
  }

  /// Returns whether a job can be chosen, judging only by its own record.
  package func accepts(_ job: JobRecord) -> Bool {
    (job.state == .failed || job.state == .cancelled) && jobs.count < JobCommand.maxChangedCount
      && !ids.contains(job.id)
  }

  /// Chooses a job, or notes why it can't be run again.
  ///
  /// - Parameters:
  ///   - job: A job that the command's filter matches and that has ended.
  ///   - dependencies: The edges to the job, with the current states of its dependencies; nil for deleted ones.
  ///   - holder: The job that holds its key; nil if there is none.
  ///   - now: The time of the store's clock.
  package mutating func consider(
    _ job: JobRecord, _ dependencies: [(edge: JobEdge, state: JobState?)], holder: JobID?, at now: StoreTime
  ) {
    var job = job
    guard accepts(job) else { return }
    if let damage = job.damage {
      refusal = refusal ?? JobError(.damagedJob, "Job \(job.id) can't be run again: \(damage).")
      return
    }
    guard JobTransitions.retry(&job, at: now) else { return }
    if let failed = dependencies.first(where: { status(of: $0.edge, $0.state) == .failed }) {
      hasFailedDependency = true
      let text =
        "Job \(job.id) can't be run again: it requires the success of job \(failed.edge.dependency), which failed or "
        + "was cancelled. Run that job again first."
      refusal = refusal ?? JobError(.dependencyFailed, text)
      return
    }
    if job.needsKey, let unique = job.settings.unique {
      if let other = keys[unique.key] ?? holder {
        let text = "Job \(job.id) can't be run again: job \(other) holds its key \(unique.key)."
        refusal = refusal ?? JobError(.keyHeld, text)
        return
      }
      keys[unique.key] = job.id
    }
    ids.insert(job.id)
    jobs.append(job)
  }

  /// Returns the status of an edge of a job that is run again.
  ///
  /// - Parameters:
  ///   - edge: An edge to the job.
  ///   - state: The state of the dependency; nil if it was deleted.
  /// - Returns: Whether the edge is met, unmet or failed in the new run of the job. If the dependency was deleted, the
  ///   status remains as it is.
  package func status(of edge: JobEdge, _ state: JobState?) -> JobEdge.Status {
    if ids.contains(edge.dependency) { return .unmet }
    return state.map { JobGraph.status(of: edge.requirement, in: $0) } ?? edge.status
  }
}

extension JobError {
  /// Whether the error means that a command found no job that can be changed.
  var refusesChange: Bool { [.keyHeld, .dependencyFailed, .damagedJob, .tooManySignals].contains(code) }
}
