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
    return limitProblem
  }

  private var limitProblem: String? {
    let limits = limits ?? []
    if limits.count > JobLimit.maxCount { return "\(limits.count) limits: use at most \(JobLimit.maxCount)" }
    for (index, limit) in limits.enumerated() {
      if let problem = limit.problem { return "a limit that would never let it run, \(problem)" }
      if index > 0, limit.rule == .serial {
        return "the serial key \(limit.key) after another limit: put it first, because it determines the order"
      }
      if limits[..<index].contains(where: { $0.storedKey == limit.storedKey }) {
        return "two limits with the key \(limit.key): use one of them"
      }
    }
    return nil
  }
}

extension JobLimit {
  /// The part of the limit that would never let a job run, and the remedy.
  fileprivate var problem: String? {
    var maximum: Int
    switch rule {
    case .concurrent(let count):
      guard count > 0 else { return "\(count) jobs: use positive numbers" }
      maximum = count
    case .serial: maximum = 1
    case .rate(let rate):
      guard rate.count > 0, rate.period > .zero, rate.burst > 0 else {
        return "\(rate.count) jobs per \(rate.period) with a burst of \(rate.burst): use positive numbers"
      }
      maximum = rate.burst
    }
    maximum = min(maximum, Self.maxWeight)
    return 1...maximum ~= weight ? nil : "the weight \(weight) of \(maximum): use a weight from 1 to \(maximum)"
  }
}
