import Headway

extension JobOptions {
  /// Stops the process if no job can have these options.
  func requireValid(for kind: JobKind) {
    require(
      !kind.rawValue.isEmpty, "A job has an empty kind. Give its type a name: static let kind: JobKind = \"mail\".")
    if let problem { misuse("A job of the kind \(kind) has \(problem).") }
  }

  /// The reason why no job can have these options, and the remedy; nil if there is none.
  private var problem: String? {
    if queue?.isEmpty == true { return "a queue without a name: use the default queue, or name one" }
    if let delay, delay < .zero {
      return "the negative delay \(delay): use zero, or a startDate, which can be in the past"
    }
    if let maxSnoozeCount, maxSnoozeCount < 0 { return "the maxSnoozeCount \(maxSnoozeCount): use 0 or more" }
    if let maxCrashCount, maxCrashCount < 1 { return "the maxCrashCount \(maxCrashCount): use 1 or more" }
    if case .duration(let duration)? = unique?.scope, duration <= .zero {
      return "a unique key that it holds for \(duration): use a positive duration"
    }
    if let retention, let shortest = [retention.succeeded, retention.cancelled, retention.failed].min(),
      shortest < .zero
    {
      return "the negative retention \(shortest): use JobRetention.none to keep nothing"
    }
    return limit?.problem.map { "a limit that would never let it run, \($0): use positive numbers" }
  }
}

extension JobLimit {
  /// The part of the limit that would never let a job run.
  fileprivate var problem: String? {
    switch rule {
    case .concurrent(let count): count > 0 ? nil : "\(count) jobs"
    case .serial: nil
    case .rate(let rate):
      rate.count > 0 && rate.period > .zero && rate.burst > 0
        ? nil : "\(rate.count) jobs per \(rate.period) with a burst of \(rate.burst)"
    }
  }
}
