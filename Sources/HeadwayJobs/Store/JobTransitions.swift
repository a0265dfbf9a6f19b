import Headway

/// The changes of a job, as pure functions that all stores share.
///
/// A store reads the record of a job under its lock, applies one of these functions, and writes the record back in the
/// same transaction. Afterward, ``JobRecord/needsKey`` indicates whether the job needs its key again.
@_spi(JobStore) public enum JobTransitions {
  /// How many crashes make a job fail, unless its options specify another number.
  public static let defaultMaxCrashCount = 4
  /// The number of times that a job can snooze, unless its options specify another number.
  public static let defaultMaxSnoozeCount = 1_000

  /// Claims a waiting job for a worker.
  ///
  /// - Parameters:
  ///   - job: The waiting job to claim.
  ///   - worker: The worker that claims it.
  ///   - now: The time of the store's clock.
  public static func claim(_ job: inout JobRecord, by worker: WorkerID, at now: StoreTime) {
    job.state = .running
    job.owner = worker
    job.claimedTime = now
    job.firstClaimedTime = job.firstClaimedTime ?? now
    job.epoch += 1
    job.attempt += 1
    if job.settings.unique?.scope == .waiting { job.holdsKey = false }
  }

  /// Ends an attempt of a job.
  ///
  /// - Parameters:
  ///   - job: The job of the ending.
  ///   - ending: How the attempt ends.
  ///   - now: The time of the store's clock.
  /// - Returns: Whether the ending is recorded now, was already recorded, or is rejected. The job is changed only in
  ///   the first case.
  public static func end(_ job: inout JobRecord, _ ending: JobEnding, at now: StoreTime) -> EndResult {
    guard job.isRun(by: ending.fence) else { return job.hasEnded(ending.fence) ? .alreadyRecorded : .refused }
    switch ending.action {
    case .succeed(let result):
      (job.result, job.errorGroup) = (result, nil)
      finish(&job, .succeeded, nil, at: now)
    case .retry(let pause, let error):
      record(error, of: &job, at: now)
      guard !job.isCancelRequested else {
        finish(&job, .failed, JobEndReason(.failed, "It was cancelled, so it is not run again."), at: now)
        break
      }
      putBack(&job, .retrying, after: pause, note: "retry", attempt: job.attempt, at: now)
    case .fail(let reason, let error):
      if let error { record(error, of: &job, at: now) }
      finish(&job, .failed, reason, at: now)
    case .snooze(let pause):
      job.attempt -= 1
      job.snoozeCount += 1
      let limit = job.settings.maxSnoozeCount ?? defaultMaxSnoozeCount
      if job.isCancelRequested {
        finish(&job, .cancelled, JobEndReason(.cancelled), at: now)
      } else if job.snoozeCount > limit {
        finish(&job, .failed, JobEndReason(.snoozedTooOften, "It has snoozed \(limit) times."), at: now)
      } else {
        putBack(&job, .scheduled, after: pause, note: "snooze", at: now)
      }
    case .release:
      job.attempt -= 1
      if job.isCancelRequested {
        finish(&job, .cancelled, JobEndReason(.cancelled), at: now)
      } else {
        putBack(&job, .scheduled, after: .zero, note: "released", at: now)
      }
    case .wait(let wait, let time):
      if job.isCancelRequested {
        job.attempt -= 1
        finish(&job, .cancelled, JobEndReason(.cancelled), at: now)
      } else {
        suspend(&job, wait, until: time, at: now)
      }
    case .cancel(let reason):
      finish(&job, .cancelled, reason, at: now)
    }
    return .recorded
  }

  /// The effect of an ending.
  public enum EndResult: Hashable, Sendable {
    /// The ending has changed the job.
    case recorded
    /// The ending was already recorded.
    case alreadyRecorded
    /// The job no longer runs under that attempt.
    case refused
  }

  /// Returns a running job to its queue after its worker died or stopped; or fails or cancels the job.
  ///
  /// - Parameters:
  ///   - job: The running job to return.
  ///   - isCrash: Whether the worker died. No crash is counted for a worker that stopped.
  ///   - now: The time of the store's clock.
  public static func rescue(_ job: inout JobRecord, isCrash: Bool, at now: StoreTime) {
    let worker = job.owner
    job.attempt -= 1
    job.owner = nil
    if isCrash { job.crashCount += 1 }
    let limit = job.settings.maxCrashCount ?? defaultMaxCrashCount
    let note = isCrash ? "the worker died" : "the worker stopped"
    job.history.append(
      JobTransition(time: now, state: .waiting, worker: worker, note: note, startTime: job.claimedTime))
    if isCrash, job.crashCount >= limit {
      let workers = job.history.transitions.filter { $0.note == note }.compactMap(\.worker)
      let list = workers.suffix(limit).map(\.description).joined(separator: ", ")
      let text = "\(job.crashCount) workers died while they ran it: \(list)"
      finish(&job, .failed, JobEndReason(.crashed, text), at: now)
    } else if job.isCancelRequested {
      finish(&job, .cancelled, JobEndReason(.cancelled), at: now)
    } else {
      job.state = .waiting
    }
  }

  /// Cancels a job, or requests that its worker cancel it.
  ///
  /// - Parameters:
  ///   - job: The job to cancel.
  ///   - now: The time of the store's clock.
  /// - Returns: True if the job is cancelled now, or its worker must now cancel it.
  public static func cancel(_ job: inout JobRecord, at now: StoreTime) -> Bool {
    switch job.state {
    case .held, .scheduled, .retrying, .waiting:
      finish(&job, .cancelled, JobEndReason(.cancelled), at: now)
      return true
    case .running:
      guard !job.isCancelRequested else { return false }
      job.isCancelRequested = true
      return true
    case .succeeded, .failed, .cancelled: return false
    }
  }

  /// Cancels a running job immediately and takes it from its worker.
  ///
  /// - Parameters:
  ///   - job: The job to cancel.
  ///   - now: The time of the store's clock.
  /// - Returns: Whether the job was running.
  public static func abandon(_ job: inout JobRecord, at now: StoreTime) -> Bool {
    guard job.state == .running else { return false }
    job.epoch += 1
    finish(&job, .cancelled, JobEndReason(.abandoned), at: now)
    return true
  }

  /// Runs a failed or cancelled job again.
  ///
  /// - Parameters:
  ///   - job: The job to run again.
  ///   - now: The time of the store's clock.
  /// - Returns: True if the job had failed or was cancelled.
  public static func retry(_ job: inout JobRecord, at now: StoreTime) -> Bool {
    guard job.state == .failed || job.state == .cancelled else { return false }
    if let start = job.claimedTime, let end = job.finishedTime, !job.history.hasEnd(ofAttemptFrom: start) {
      job.history.append(
        JobTransition(
          time: end, state: job.state, worker: job.owner, note: job.reason?.code.rawValue, attempt: job.attempt,
          startTime: start))
    }
    let text = JobHistory.retryNote + (job.reason?.description ?? "")
    job.history.append(JobTransition(time: now, state: .waiting, note: text))
    (job.attempt, job.crashCount, job.snoozeCount) = (0, 0, 0)
    (job.firstClaimedTime, job.claimedTime, job.finishedTime, job.expirationTime, job.dueTime) = (
      nil, nil, nil, nil, nil
    )
    (job.deadline, job.owner, job.reason, job.result, job.progress) = (nil, nil, nil, nil, nil)
    job.isCancelRequested = false
    job.state = .waiting
    return true
  }

  /// Makes a scheduled or retrying job that is due wait for a worker.
  ///
  /// - Parameters:
  ///   - job: A job whose time has come.
  ///   - now: The time of the store's clock.
  public static func becomeWaiting(_ job: inout JobRecord, at now: StoreTime) {
    becomeWaiting(&job, note: "due", at: now)
  }

  /// Makes a job ready because the signal that it waits for has arrived.
  ///
  /// - Parameters:
  ///   - job: The job that might wait for the signal.
  ///   - signal: The name of the signal.
  ///   - now: The time of the store's clock.
  /// - Returns: Whether the job waited for this signal.
  public static func wake(_ job: inout JobRecord, by signal: String, at now: StoreTime) -> Bool {
    guard job.state == .scheduled, job.wait == .signal(signal) else { return false }
    becomeWaiting(&job, note: "received the signal “\(signal)”", at: now)
    return true
  }

  private static func becomeWaiting(_ job: inout JobRecord, note: String, at now: StoreTime) {
    (job.state, job.dueTime, job.wait) = (.waiting, nil, nil)
    job.history.append(JobTransition(time: now, state: .waiting, note: note))
  }

  /// Changes a job that has not started, or that waits for its next attempt.
  ///
  /// - Parameters:
  ///   - job: The job to change.
  ///   - change: The property to change, with its new value.
  ///   - now: The time of the store's clock.
  /// - Returns: True if the job could be changed and had another value before.
  public static func change(_ job: inout JobRecord, _ change: JobChange, at now: StoreTime) -> Bool {
    guard JobState.changeable.contains(job.state) else { return false }
    let former = job
    let note: String
    switch change {
    case .priority(let priority): (job.priority, note) = (priority.rawValue, "priority changed")
    case .queue(let queue): (job.queue, note) = (queue, "moved from “\(job.queue)”")
    case .deadline(let time): (job.deadline, note) = (time, "deadline changed")
    case .payload(let payload, let version):
      (job.payload, job.version, note) = (payload, version, "payload changed")
    case .dueTime(let time):
      job.dueTime = time.flatMap { $0 > now ? $0 : nil }
      switch job.state {
      case .held: break
      case .retrying where job.dueTime != nil: break
      default: job.state = job.dueTime == nil ? .waiting : .scheduled
      }
      // A job that wakes early waits again when its code reaches the wait.
      if job.state == .waiting { job.wait = nil }
      note = "rescheduled"
    }
    guard job != former else { return false }
    job.history.append(JobTransition(time: now, state: job.state, note: note))
    return true
  }

  /// Cancels a job that has not started by its deadline.
  ///
  /// - Parameters:
  ///   - job: A job that is not running and has not ended.
  ///   - now: The time of the store's clock.
  public static func expire(_ job: inout JobRecord, at now: StoreTime) {
    finish(&job, .cancelled, JobEndReason(.expired, "Its deadline passed while it waited."), at: now)
  }

  /// Fails an unfinished job because part of it can't be read.
  ///
  /// - Parameters:
  ///   - job: A job that is not running and has not ended.
  ///   - damage: A description of the parts that can't be read.
  ///   - now: The time of the store's clock.
  public static func fail(_ job: inout JobRecord, because damage: String, at now: StoreTime) {
    finish(&job, .failed, JobEndReason(.damaged, damage), at: now)
  }

  /// Cancels a job that returns to its queue while another job holds its key.
  ///
  /// - Parameters:
  ///   - job: A job that needs its key.
  ///   - other: The job that holds the key.
  ///   - now: The time of the store's clock.
  public static func supersede(_ job: inout JobRecord, by other: JobID, at now: StoreTime) {
    finish(&job, .cancelled, JobEndReason(.superseded, "by job \(other)"), at: now)
  }

  /// Replaces the content of a job that has not started with the content of a new job that has the same key.
  ///
  /// - Parameters:
  ///   - job: The job that holds the key.
  ///   - new: The new job with the same key.
  ///   - now: The time of the store's clock.
  /// - Returns: True if the job had not started, so that it was changed.
  public static func replace(_ job: inout JobRecord, with new: NewJob, at now: StoreTime) -> Bool {
    guard JobState.changeable.contains(job.state) else { return false }
    let template = JobRecord(id: job.id, new, at: now)
    if job.state.waitsForTime, template.state == .waiting {
      job.history.append(JobTransition(time: now, state: .waiting, note: "replaced"))
    }
    (job.payload, job.kind, job.version) = (template.payload, template.kind, template.version)
    (job.priority, job.dueTime, job.wait) = (template.priority, template.dueTime, nil)
    if job.state != .held { job.state = template.state }
    return true
  }

  private static func putBack(
    _ job: inout JobRecord, _ state: JobState, after pause: Duration, note: String, attempt: Int? = nil,
    at now: StoreTime
  ) {
    job.dueTime = pause > .zero ? now + pause : nil
    job.state = pause > .zero ? state : .waiting
    job.history.append(
      JobTransition(
        time: now, state: job.state, worker: job.owner, note: note, attempt: attempt, startTime: job.claimedTime))
  }

  /// Ends an attempt whose job waits without a worker.
  ///
  /// The job has reached a new part of its work, so attempts, crashes and snoozes of the earlier parts no longer count.
  private static func suspend(_ job: inout JobRecord, _ wait: JobWait, until time: StoreTime, at now: StoreTime) {
    let attempt = job.attempt
    (job.attempt, job.crashCount, job.snoozeCount, job.firstClaimedTime) = (0, 0, 0, nil)
    job.errorGroup = nil
    job.dueTime = time > now ? time : nil
    job.state = time > now ? .scheduled : .waiting
    job.wait = time > now ? wait : nil
    job.history.append(
      JobTransition(
        time: now, state: job.state, worker: job.owner, note: "waits for \(wait)", attempt: attempt,
        startTime: job.claimedTime))
  }

  private static func record(_ error: JobErrorDescription, of job: inout JobRecord, at now: StoreTime) {
    job.history.append(JobErrorRecord(attempt: job.attempt, time: now, type: error.type, text: error.text))
  }

  static func finish(_ job: inout JobRecord, _ state: JobState, _ reason: JobEndReason?, at now: StoreTime) {
    job.state = state
    job.reason = reason
    job.finishedTime = now
    job.expirationTime = now + (job.settings.retention ?? JobRetention()).duration(after: state)
    job.dueTime = nil
    job.wait = nil
    job.unmetCount = 0
    job.holdsKey = false
    job.isCancelRequested = false
  }
}

extension JobRecord {
  /// Whether the job must hold its key but does not, because it is new or has returned to its queue.
  @_spi(JobStore) public var needsKey: Bool {
    guard !holdsKey, let scope = settings.unique?.scope else { return false }
    switch scope {
    case .waiting: return JobState.changeable.contains(state)
    case .unfinished: return !state.isFinished
    case .duration: return false
    }
  }

  /// Returns whether the ending of an attempt was already recorded, so that it is a repetition.
  func hasEnded(_ fence: JobFence) -> Bool { state != .running && epoch == fence.epoch && owner == fence.owner }
}
