/// What has happened to the jobs of each kind and queue in the last minutes, and in the rest of the last hour.
package struct RecentRates: Sendable {
  /// Whether the store keeps statistics.
  let areKnown: Bool
  /// The activity of the last minutes, by kind.
  package let kinds: [JobKind: JobActivity]
  /// The activity in the rest of the hour, by kind.
  let kindsBefore: [JobKind: JobActivity]
  /// The activity of the last minutes, by queue.
  let queues: [String: JobActivity]
  /// The waits of the last hour, by queue.
  private let waits: [String: JobDurations]

  /// The length of the last minutes.
  package static let interval = Duration.seconds(300)

  init(_ statistics: JobStatistics, areKnown: Bool = true) {
    self.areKnown = areKnown
    let (latest, before) = (statistics.latest(Self.interval), statistics.before(latest: Self.interval))
    (kinds, kindsBefore, queues) = (latest.byKind, before.byKind, latest.byQueue)
    waits = statistics.byQueue.mapValues(\.waits)
  }

  /// The activity of the last hour, by kind.
  var hour: [JobKind: JobActivity] { kinds.merging(kindsBefore, uniquingKeysWith: +) }

  /// Returns how long 95% of the jobs of a queue that started in the last hour had waited; nil if none has started.
  func usualWait(in queue: String) -> Duration? {
    // If a store has many queues, some of them are counted together.
    (waits[queue] ?? waits[JobStatistics.rest])?.percentile(95)
  }

  // MARK: Failing attempts

  /// Attempts of a kind that fail too often.
  struct Failing {
    let kind: JobKind
    /// The activity of the last minutes or, if there were few attempts, of the last hour.
    let activity: JobActivity
    /// The activity before the last minutes.
    let before: JobActivity?
    /// Whether the activity is that of the last minutes.
    let isRecent: Bool
  }

  /// Returns the kinds whose attempts fail too often, the one with the most failures first.
  func failing(_ options: JobsHealth.Options) -> [Failing] {
    func isTooMuch(_ activity: JobActivity) -> Bool {
      activity.failedAttempts > options.maxFailureCount && activity.failedPart > options.maxFailedPart
    }
    let failing = hour.compactMap { kind, hour -> Failing? in
      let latest = kinds[kind] ?? JobActivity()
      if isTooMuch(latest) { return Failing(kind: kind, activity: latest, before: kindsBefore[kind], isRecent: true) }
      // The pauses between attempts grow to hours.
      guard latest.succeeded == 0, isTooMuch(hour) else { return nil }
      return Failing(kind: kind, activity: hour, before: nil, isRecent: false)
    }
    return failing.sorted {
      ($1.activity.failedAttempts, $0.kind) < ($0.activity.failedAttempts, $1.kind)
    }
  }
}

extension JobActivity {
  /// The number of attempts that have succeeded or failed.
  var attempts: Int { succeeded + failedAttempts }
  /// The part of the attempts that failed; 0 if there was none.
  var failedPart: Double { attempts == 0 ? 0 : Double(failedAttempts) / Double(attempts) }
}
