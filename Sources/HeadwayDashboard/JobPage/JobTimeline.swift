#if Dashboard
@_spi(JobStore) import HeadwayJobs

/// What has happened to a job: its attempts, each with its error and its log lines, and the changes between them.
struct JobTimeline: Equatable {
  /// An attempt to run the job.
  struct Attempt: Equatable {
    /// The number, from 1; nil if the attempt is not counted.
    var number: Int?
    /// When a worker claimed the job; nil if it is no longer known.
    var start: StoreTime?
    /// When the attempt ended; nil while it runs.
    var end: StoreTime?
    var worker: WorkerID?
    /// How the attempt ended, as an adjective or a short phrase.
    var outcome: String
    /// The state that has the color of the outcome.
    var state: JobState
    var error: JobErrorRecord?
    /// The log lines, oldest first.
    var log: [JobTransition] = []
  }

  enum Entry: Equatable {
    case attempt(Attempt)
    /// A change while no attempt ran.
    case change(StoreTime, JobState, String)
  }

  /// The attempts and changes, oldest first.
  private(set) var entries: [Entry] = []
  /// Whether older entries are no longer stored.
  let isPartial: Bool

  /// The attempts, oldest first.
  var attempts: [Attempt] {
    entries.compactMap { if case .attempt(let attempt) = $0 { attempt } else { nil } }
  }

  /// Creates the timeline of a job from its record.
  init(_ job: JobRecord) {
    let history = job.history
    isPartial =
      history.transitions.count >= JobHistory.maxTransitionCount || history.errors.count >= JobHistory.maxErrorCount
    var (log, errors) = ([JobTransition](), history.errors)
    entries.append(.change(job.enqueuedTime, .waiting, "enqueued"))
    for change in history.transitions {
      if change.isLogLine {
        log.append(change)
      } else if let start = change.startTime {
        // The error was stored together with the end of its attempt. Attempts that are not counted have none.
        let error = errors.firstIndex { $0.time == change.time && $0.attempt == change.attempt }
          .map { errors.remove(at: $0) }
        let (outcome, state) = Self.outcome(of: change)
        entries.append(
          .attempt(
            Attempt(
              number: change.attempt, start: start, end: change.time, worker: change.worker, outcome: outcome,
              state: state, error: error, log: log)))
        log = []
      } else {
        entries.append(.change(change.time, change.state, change.note ?? change.state.name))
      }
    }
    addLastAttempt(of: job, log, &errors)
    addAttempts(with: errors)
  }

  private mutating func addLastAttempt(of job: JobRecord, _ log: [JobTransition], _ errors: inout [JobErrorRecord]) {
    let reason = job.reason.map { $0.description == job.state.name ? "" : ": \($0)" } ?? ""
    guard let start = job.claimedTime, job.state == .running || job.state.isFinished,
      !job.history.hasEnd(ofAttemptFrom: start)
    else {
      if job.state.isFinished, let end = job.finishedTime {
        entries.append(.change(end, job.state, job.state.name + reason))
      }
      return
    }
    let error = errors.lastIndex { $0.time == job.finishedTime && $0.attempt == job.attempt }
      .map { errors.remove(at: $0) }
    let outcome = job.state == .running && job.isCancelRequested ? "running, cancelled" : job.state.name
    entries.append(
      .attempt(
        Attempt(
          number: job.attempt, start: start, end: job.finishedTime, worker: job.owner, outcome: outcome + reason,
          state: job.state, error: error, log: log)))
  }

  /// Adds the attempts of which only the errors are still known.
  private mutating func addAttempts(with errors: [JobErrorRecord]) {
    let older = errors.map { error in
      Entry.attempt(
        Attempt(number: error.attempt, end: error.time, outcome: "failed", state: .failed, error: error))
    }
    entries = (older + entries).enumerated().sorted { one, other in
      (one.element.time, one.offset) < (other.element.time, other.offset)
    }.map(\.element)
  }

  private static func outcome(of change: JobTransition) -> (String, JobState) {
    switch change.note {
    case "retry": ("failed, runs again", .failed)
    case "snooze": ("snoozed", .scheduled)
    case "released": ("given back", .waiting)
    case let note?: (note, change.state.isFinished ? change.state : note.contains("died") ? .failed : .scheduled)
    case nil: (change.state.name, change.state)
    }
  }
}

extension JobTimeline.Entry {
  /// When the entry began.
  var time: StoreTime {
    switch self {
    case .attempt(let attempt): attempt.start ?? attempt.end ?? StoreTime(microseconds: .min)
    case .change(let time, _, _): time
    }
  }
}

extension JobTransition {
  /// Whether this is a log line of an attempt.
  fileprivate var isLogLine: Bool { state == .running }
}
#endif
