import Synchronization

/// Posts the events of a worker.
///
/// Without iterations of events, the functions do almost nothing.
final class WorkerReports: Sendable {
  /// The tasks of a worker that use the store.
  enum User: UInt8 {
    case exchange = 1
    case beat = 2
  }

  private let log: JobEventLog
  /// The attempts that have ended and are not recorded yet.
  private let ended = Mutex<[JobFence: JobAttempt]>([:])
  /// Whether there are such attempts.
  private let hasEnded = Atomic(false)
  /// The users of the store whose last request has failed.
  private let failing = Atomic<UInt8>(0)

  init(_ log: JobEventLog) { self.log = log }

  func post(_ event: @autoclosure () -> JobEvent) { log.post(event()) }

  var isObserved: Bool { log.isObserved }

  // MARK: Attempts

  func claimed(_ jobs: [JobRecord]) {
    guard log.isObserved else { return }
    for job in jobs { if let fence = job.fence { log.post(.claimed(JobAttempt(job, fence))) } }
  }

  /// Notes an attempt whose ending the worker will send.
  func willRecord(_ job: JobRecord, _ fence: JobFence) {
    guard log.isObserved else { return }
    let attempt = JobAttempt(job, fence)
    ended.withLock { ended in
      ended[fence] = attempt
      hasEnded.store(true, ordering: .releasing)
    }
  }

  /// Notes that the ending of an attempt will not be sent after all.
  func willNotRecord(_ fence: JobFence) { _ = take(fence) }

  /// Notes the answers of the store.
  func recorded(_ endings: [JobEnding], _ verdicts: [JobExchangeAnswer.Verdict]) {
    guard hasEnded.load(ordering: .acquiring) else { return }
    for (ending, verdict) in zip(endings, verdicts) {
      // Without an entry, the attempt ended before the first iteration began.
      guard let attempt = take(ending.fence) else { continue }
      log.post(verdict == .recorded ? .ended(attempt, ending.action) : .leaseLost(attempt))
    }
  }

  private func take(_ fence: JobFence) -> JobAttempt? {
    ended.withLock { ended in
      defer { if ended.isEmpty { hasEnded.store(false, ordering: .releasing) } }
      return ended.removeValue(forKey: fence)
    }
  }

  // MARK: The store

  /// Notes that a request has failed and will be repeated.
  func failed(_ error: any Error, _ user: User) {
    let before = failing.bitwiseOr(user.rawValue, ordering: .relaxed).oldValue
    if before == 0 { log.post(.storeLost("\(error)")) }
  }

  /// Notes that a request has succeeded.
  func succeeded(_ user: User) {
    guard failing.load(ordering: .relaxed) & user.rawValue != 0 else { return }
    let (before, after) = failing.bitwiseAnd(~user.rawValue, ordering: .relaxed)
    if before != 0, after == 0 { log.post(.storeBack) }
  }

  /// Reports the jobs of dead workers.
  func rescued(_ ids: [JobID], in store: any JobStoreBackend) async {
    guard !ids.isEmpty, log.isObserved else { return }
    guard let jobs = try? await store.jobs(JobFilter(ids: ids), after: nil, limit: ids.count) else { return }
    for job in jobs {
      if let reason = job.reason, reason.code == .crashed {
        log.post(.crashed(job.id, reason))
      } else {
        log.post(.rescued(job.id, crashCount: job.crashCount))
      }
    }
  }
}
