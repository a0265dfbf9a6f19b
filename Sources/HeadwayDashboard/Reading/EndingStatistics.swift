#if Dashboard
import HeadwayJobs

/// The rates and times of the jobs that have ended in the last hour.
struct EndingStatistics {
  /// The endings of a minute.
  struct Minute: Equatable {
    var succeeded = 0
    var failed = 0
    var cancelled = 0

    var count: Int { succeeded + failed + cancelled }

    mutating func add(_ state: JobState) {
      switch state {
      case .failed: failed += 1
      case .cancelled: cancelled += 1
      default: succeeded += 1
      }
    }
  }

  /// The median and the 95th percentile.
  struct Times: Equatable {
    var median: Duration
    var slow: Duration
  }

  static let minuteCount = 60

  /// The endings by minute, oldest first.
  private(set) var minutes = [Minute](repeating: Minute(), count: minuteCount)
  /// The number of endings per minute, over the last minute or the time that is known.
  private(set) var perMinute = 0.0
  /// How many of the ended jobs have failed; nil if none has ended.
  private(set) var failedPart: Double?
  /// How long the jobs waited before their last attempt.
  private(set) var waits: Times?
  /// How long their last attempt took.
  private(set) var runs: Times?
  /// Whether there were more endings in the hour than are known.
  private(set) var isPartial = false

  /// Computes the statistics.
  ///
  /// - Parameters:
  ///   - endings: The endings of the last hour, latest first.
  ///   - limit: The maximum number of endings that are known.
  ///   - now: The time of the store's clock.
  init(_ endings: [EndedJob], limit: Int, at now: StoreTime) {
    isPartial = endings.count >= limit
    for ending in endings {
      let age = max(.zero, now - ending.finishedTime)
      let index = Self.minuteCount - 1 - Int(age / .seconds(60))
      if minutes.indices.contains(index) { minutes[index].add(ending.state) }
    }
    let lastMinute = endings.prefix { now - $0.finishedTime <= .seconds(60) }.count
    perMinute = Double(lastMinute)
    if isPartial, lastMinute == endings.count, let last = endings.last {
      perMinute = Double(lastMinute) / max(0.001, (now - last.finishedTime) / .seconds(60))
    }
    let failed = endings.count { $0.state == .failed }
    failedPart = endings.isEmpty ? nil : Double(failed) / Double(endings.count)
    waits = Self.times(endings.compactMap(\.waitDuration))
    runs = Self.times(endings.compactMap(\.runDuration))
  }

  private static func times(_ durations: [Duration]) -> Times? {
    guard !durations.isEmpty else { return nil }
    let sorted = durations.sorted()
    return Times(median: sorted[(sorted.count - 1) / 2], slow: sorted[(sorted.count - 1) * 95 / 100])
  }
}
#endif
