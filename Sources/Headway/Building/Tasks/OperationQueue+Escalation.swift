import Dispatch
import Synchronization

/// Support for tasks that are escalated while a queue has their jobs.
///
/// The Swift runtime does not notify an executor when such a task is escalated. Therefore, the queue reads the
/// priorities of the tasks whose jobs it has. It reads them a few milliseconds after a thread has been requested. While
/// there are jobs and the queue is at work, it reads them again, at increasing intervals. A job whose task was
/// escalated is raised like any operation.
extension OperationQueue {
  /// The intervals between two checks, in milliseconds.
  private static let (shortestInterval, longestInterval) = (4, 256)

  /// Notes that a job has been added.
  final func noteJob() {
    if !following.contains(.jobs) { setFollowing(.jobs, true) }
    beginLookingForEscalations()
  }

  /// Begins to check for escalated tasks, unless the queue already checks for them or has had no job.
  final func beginLookingForEscalations() {
    guard following.contains(.jobs), !looksForEscalations.load(ordering: .relaxed) else { return }
    lookForEscalations(after: Self.shortestInterval)
  }

  private func lookForEscalations(after milliseconds: Int) {
    guard !looksForEscalations.exchange(true, ordering: .sequentiallyConsistent) else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      guard let self else { return }
      // Clear this before reading: a job that is added later then begins again.
      looksForEscalations.store(false, ordering: .sequentiallyConsistent)
      if raiseEscalated() { lookForEscalations(after: min(2 * milliseconds, Self.longestInterval)) }
    }
  }

  /// Raises the jobs whose tasks have been escalated.
  ///
  /// Checks the first thousand operations: O(1).
  ///
  /// - Returns: Whether there are jobs and the queue is at work.
  @discardableResult
  final func raiseEscalated() -> Bool {
    let (escalated, continues) = update(collectingBatches: true) { state -> ([Admission.Raised], Bool) in
      let (escalated, hasJobs) = state.admission.findEscalated()
      return (escalated, hasJobs && state.admission.isAtWork)
    }
    for raised in escalated { Operation.raise([raised.operation], level: raised.level) }
    return continues
  }
}

extension Admission {
  private static let mostLookedAt = 1_000

  /// Whether a thread is on its way, or an operation is running.
  var isAtWork: Bool { !tickets.isZero || started > 0 }

  /// Finds the jobs, among the first operations, whose tasks are now more urgent.
  ///
  /// Also returns whether there are any jobs.
  ///
  /// Puts back jobs that threads of low classes have taken and not started.
  mutating func findEscalated() -> (escalated: [Raised], hasJobs: Bool) {
    batches.forEach { if $0.workerClass != .normal { reclaim($0) } }
    var escalated: [Raised] = []
    var hasJobs = false
    func look(at operation: Operation) {
      guard let level = operation.levelOfTask else { return }
      hasJobs = true
      if level > operation.state.current.qualityLevel { escalated.append(Raised(operation: operation, level: level)) }
    }
    batches.forEach {
      // Includes operations that the thread has taken and is about to begin. Otherwise, the queue would not look again.
      $0.forEachUnfinished(look)
      // An operation that the thread has continued with.
      $0.withRunning(look)
    }
    var count = 0
    for list in [members.returned, members.list] {
      var position = list.first
      while let reference = position, count < Self.mostLookedAt {
        position = reference.memberNext
        count += 1
        reference._withUnsafeGuaranteedRef(look)
      }
    }
    return (escalated, hasJobs)
  }
}
