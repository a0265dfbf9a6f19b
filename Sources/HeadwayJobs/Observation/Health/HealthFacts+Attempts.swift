/// The checks of attempts and their ends.
extension HealthFacts {
  /// The part of failing attempts that is bad, whatever the options are.
  private static let badFailedPart = 0.5

  var attempts: [JobsHealth.Finding] {
    let good = JobsHealth.Finding.good(
      "Attempts", rates.areKnown ? "Few attempts fail." : "The store does not count attempts.", link: .errors)
    return findings(rates.failing(options), "kind", else: good) { failing in
      let activity = failing.activity
      let isAll = activity.succeeded == 0
      let part = isAll ? "All attempts" : "\(Readable.percent(activity.failedPart)) of the attempts"
      let period = failing.isRecent ? Readable.duration(RecentRates.interval) : "hour"
      var text =
        "\(part) of \(Self.name(failing.kind)) failed in the last \(period): "
        + Readable.number(activity.failedAttempts) + (isAll ? "" : " of \(Readable.number(activity.attempts))")
      if let before = failing.before, before.attempts > 0 {
        text += ", and \(Readable.percent(before.failedPart)) in the hour before"
      }
      text += "."
      if let error = lastError(of: failing.kind) { text += " The last error: \(Readable.ended(error))" }
      let isMuted = areErrorsMuted(of: failing.kind)
      if isMuted { text += " These errors are muted." }
      return JobsHealth.Finding(
        level: isMuted ? .good : activity.failedPart < Self.badFailedPart ? .warning : .bad, name: "Attempts",
        text: text, link: link(to: failing.kind))
    }
  }

  /// Returns whether a person has muted all errors of a kind that occurred in the last hour.
  private func areErrorsMuted(of kind: JobKind) -> Bool {
    let start = overview.time + (.zero - JobsOverview.endingsInterval)
    let recent = errors.filter { $0.kind == kind && $0.lastSeenTime > start }
    return !recent.isEmpty && recent.allSatisfy { $0.mute != nil }
  }

  /// The jobs of the kind that wait for another attempt or, if there are none, those that have failed.
  private func link(to kind: JobKind) -> JobsHealth.Link {
    guard kind.rawValue != JobStatistics.rest else { return .errors }
    let state = retrying.contains { $0.kind == kind } ? JobState.retrying : .failed
    return .jobs(JobFilter(states: [state], kinds: [kind]))
  }

  private static func name(_ kind: JobKind) -> String {
    kind.rawValue == JobStatistics.rest ? "many kinds" : "“\(kind)”"
  }

  private func lastError(of kind: JobKind) -> String? {
    let errors = (retrying + failed).filter { $0.kind == kind }.compactMap(\.history.errors.last)
    return errors.max { $0.time < $1.time }.map { "\($0.type): \(Readable.line($0.text))" }
  }

  /// The jobs that have ended in the last hour, and those that have failed, by kind.
  private var endings: (count: Int, failures: [JobKind: Int], isExact: Bool) {
    guard rates.areKnown else {
      let failures = overview.endings.filter { $0.state == .failed }
      let kinds = Dictionary(grouping: failures, by: \.kind).mapValues(\.count)
      let maxCount = min(overview.countLimit, JobsOverview.maxEndingCount)
      return (overview.endings.count, kinds, overview.endings.count < maxCount)
    }
    let failures = rates.hour.mapValues(\.failed).filter { $0.value > 0 }
    return (rates.hour.values.reduce(0) { $0 + $1.ended }, failures, true)
  }

  var failures: [JobsHealth.Finding] {
    let (count, kinds, isExact) = endings
    guard count > 0 else { return [.good("Failures", "No job has ended in the last hour.")] }
    let failedCount = kinds.values.reduce(0, +)
    let part = Double(failedCount) / Double(count)
    let text =
      "\(Readable.percent(part)) of the jobs that ended in the last hour have failed "
      + "(\(Readable.number(failedCount)) of \(Readable.number(count))\(isExact ? "" : "+"))."
    let muted = Set(errors.filter { $0.mute != nil }.map(\.id))
    let isMuted = !failed.isEmpty && failed.allSatisfy { $0.errorGroup.map(muted.contains) ?? false }
    let isMuch = failedCount > options.maxFailureCount && part > options.maxFailedPart && !isMuted
    let kind = kinds.count == 1 && kinds.keys.first?.rawValue != JobStatistics.rest ? kinds.keys.first : nil
    return [
      JobsHealth.Finding(
        level: isMuch ? .bad : .good, name: "Failures", text: text,
        link: .jobs(JobFilter(states: [.failed], kinds: kind.map { [$0] })))
    ]
  }

  /// Processes that died while they ran jobs.
  ///
  /// When another worker has taken over the jobs of a dead worker, the store no longer knows that worker.
  var crashes: [JobsHealth.Finding] {
    let crashed = rates.hour.filter { $0.value.crashes > 0 }
      .sorted { ($1.value.crashes, $0.key) < ($0.value.crashes, $1.key) }
    let good = JobsHealth.Finding.good("Crashes", "No process has died in the last hour while it ran a job.")
    return findings(crashed, "kind", else: good) { kind, activity in
      let times = activity.crashes == 1 ? "once" : "\(Readable.number(activity.crashes)) times"
      let text = "Processes died \(times) in the last hour while they ran a job of \(Self.name(kind))."
      guard let job = failed.first(where: { $0.kind == kind && $0.reason?.code == .crashed }) else {
        return .warning("Crashes", "\(text) See the logs of the workers.", link: Self.link(toAll: kind))
      }
      return .warning(
        "Crashes", "\(text) Job \(job.id) has failed because of this. Find the cause before you retry the job.",
        link: .jobs(.id(job.id)))
    }
  }

  private static func link(toAll kind: JobKind) -> JobsHealth.Link {
    .jobs(JobFilter(kinds: kind.rawValue == JobStatistics.rest ? nil : [kind]))
  }

  var retries: [JobsHealth.Finding] {
    let found = overview.count(of: .retrying)
    let count = found.count
    guard count > 0 else { return [.good("Retries", "No job waits for another attempt.")] }
    let unmuted = count - min(count, mutedRetryCount)
    let isMuch =
      unmuted > options.maxFailureCount && Double(unmuted) > Double(endings.count) * options.maxFailedPart
    let next = retrying.compactMap(\.dueTime).min().map { due in
      guard due > overview.time else { return ", the next one now" }
      // Another job might be due earlier if not all of them were read.
      return ", the next one \(count > retrying.count ? "within" : "in") \(Readable.duration(due - overview.time))"
    }
    return [
      JobsHealth.Finding(
        level: isMuch ? .warning : .good, name: "Retries",
        text: Readable.sentence("\(jobs(found, "waits", "wait")) for another attempt after an error\(next ?? "")"),
        link: .jobs(JobFilter(states: [.retrying])))
    ]
  }
}
