/// The checks of attempts and their ends.
extension HealthFacts {
  /// The part of failing attempts that is bad, whatever the options are.
  private static let badFailedPart = 0.5

  var attempts: [JobsHealth.Finding] {
    let minutes = Readable.duration(RecentRates.recentInterval)
    let good = JobsHealth.Finding.good("Attempts", "Few attempts fail.", link: .errors)
    return findings(rates.failing(options), "kind", else: good) { failing in
      let numbers = failing.numbers
      let part = numbers.succeeded == 0 ? "All attempts" : "\(Readable.percent(numbers.failedPart)) of the attempts"
      let period = failing.before == nil ? "hour" : minutes
      var text =
        "\(part) of ‘\(failing.kind)’ failed in the last \(period): \(Readable.number(numbers.failedAttempts)) of "
        + Readable.number(numbers.attempts)
      if let before = failing.before, before.attempts > 0 {
        text += ", and \(Readable.percent(before.failedPart)) in the hour before"
      }
      text += "."
      if let error = lastError(of: failing.kind) { text += " The last error: \(Readable.ended(error))" }
      return JobsHealth.Finding(
        level: numbers.failedPart < Self.badFailedPart ? .warning : .bad, name: "Attempts", text: text,
        link: link(of: failing.kind))
    }
  }

  /// The jobs of the kind that wait for another attempt or, if there are none, those that have failed.
  private func link(of kind: JobKind) -> JobsHealth.Link {
    let state = retrying.contains { $0.kind == kind } ? JobState.retrying : .failed
    return .jobs(JobFilter(states: [state], kinds: [kind]))
  }

  private func lastError(of kind: JobKind) -> String? {
    let errors = (retrying + failed).filter { $0.kind == kind }.compactMap(\.history.errors.last)
    return errors.max { $0.time < $1.time }.map { "\($0.type): \(Readable.line($0.text))" }
  }

  var failures: [JobsHealth.Finding] {
    let failures = overview.endings.filter { $0.state == .failed }
    let count = overview.endings.count
    guard count > 0 else { return [.good("Failures", "No job has ended in the last hour.")] }
    let part = Double(failures.count) / Double(count)
    let text =
      "\(Readable.percent(part)) of the jobs that ended in the last hour have failed (\(Readable.number(failures.count)) "
      + "of \(Readable.number(count))\(count >= overview.countLimit ? "+" : ""))."
    let isMuch = failures.count > options.maxFailureCount && part > options.maxFailedPart
    // The kind with the most failures.
    let kinds = Dictionary(grouping: failures, by: \.kind).sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    let kind = kinds.count == 1 ? kinds.first?.key : nil
    return [
      JobsHealth.Finding(
        level: isMuch ? .bad : .good, name: "Failures", text: text,
        link: .jobs(JobFilter(states: [.failed], kinds: kind.map { [$0] })))
    ]
  }

  /// Jobs whose processes died can end further processes if they run again.
  var crashes: [JobsHealth.Finding] {
    let crashed = failed.filter { $0.reason?.code == .crashed }
    let good = JobsHealth.Finding.good("Crashes", "No job has failed in the last hour because processes died.")
    return findings(crashed, "job", else: good) { job in
      .warning(
        "Crashes",
        "Job \(job.id) (\(job.settings.label ?? job.kind.rawValue)) has failed because \(job.crashCount) processes died "
          + "while they ran it. Find out why before you retry the job.", link: .jobs(.id(job.id)))
    }
  }

  var retries: [JobsHealth.Finding] {
    let count = overview.snapshot.queues.reduce(0) { min($0 + $1.counts[.retrying], Self.countLimit + 1) }
    guard count > 0 else { return [.good("Retries", "No job waits for another attempt.")] }
    let ended = overview.endings.count
    let isMuch = count > options.maxFailureCount && Double(count) > Double(ended) * options.maxFailedPart
    let due = retrying.compactMap(\.dueTime).min()
    let next = due.map { $0 > overview.time ? ", the next one in \(Readable.duration($0 - overview.time))" : "" } ?? ""
    return [
      JobsHealth.Finding(
        level: isMuch ? .warning : .good, name: "Retries",
        text: "\(jobs(count, "waits", "wait")) for another attempt after an error\(next).",
        link: .jobs(JobFilter(states: [.retrying])))
    ]
  }
}
