/// How many attempts and jobs ended, by kind and by queue, in the last minutes and in the rest of the last hour.
struct RecentRates: Sendable {
  /// Counts of a period.
  struct Numbers: Sendable {
    var succeeded = 0
    var failedAttempts = 0
    var enqueued = 0
    /// The jobs that have succeeded, failed, or were cancelled.
    var ended = 0

    var attempts: Int { succeeded + failedAttempts }
    /// The part of the attempts that failed; 0 if there was none.
    var failedPart: Double { attempts == 0 ? 0 : Double(failedAttempts) / Double(attempts) }

    static func + (left: Numbers, right: Numbers) -> Numbers {
      Numbers(
        succeeded: left.succeeded + right.succeeded, failedAttempts: left.failedAttempts + right.failedAttempts,
        enqueued: left.enqueued + right.enqueued, ended: left.ended + right.ended)
    }
  }

  /// The counts of the last minutes, and of the rest of the hour.
  struct Parts: Sendable {
    var recent = Numbers()
    var before = Numbers()
  }

  private(set) var kinds: [JobKind: Parts] = [:]
  private(set) var queues: [String: Parts] = [:]
  /// How long 95% of the jobs of each queue that started in the last hour had waited.
  private(set) var waits: [String: Duration] = [:]

  /// The length of the last minutes.
  static let recentInterval = Duration.seconds(300)
}

/// Attempts of a kind that fail too often.
struct FailingKind {
  let kind: JobKind
  /// The counts of the last minutes or, if there were too few attempts, of the last hour.
  let numbers: RecentRates.Numbers
  /// The counts of the time before; nil if the counts are those of the hour.
  let before: RecentRates.Numbers?
}

extension RecentRates {
  /// The kinds whose attempts fail too often, the one with the most failures first.
  func failing(_ options: JobsHealth.Options) -> [FailingKind] {
    func isTooMuch(_ numbers: Numbers) -> Bool {
      numbers.failedAttempts > options.maxFailureCount && numbers.failedPart > options.maxFailedPart
    }
    let failing = kinds.compactMap { kind, parts -> FailingKind? in
      if isTooMuch(parts.recent) { return FailingKind(kind: kind, numbers: parts.recent, before: parts.before) }
      // The pauses between attempts grow to hours.
      let hour = parts.recent + parts.before
      guard parts.recent.succeeded == 0, isTooMuch(hour) else { return nil }
      return FailingKind(kind: kind, numbers: hour, before: nil)
    }
    return failing.sorted {
      ($1.numbers.failedAttempts, $0.kind) < ($0.numbers.failedAttempts, $1.kind)
    }
  }

  func failingKinds(_ options: JobsHealth.Options) -> [JobKind] { failing(options).map(\.kind) }
}
