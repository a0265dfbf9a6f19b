#if Dashboard
@_spi(JobStore) import HeadwayJobs

extension PageRenderer {
  func health(_ call: Call) async throws -> Page {
    let report = await healthWatch.report(atMost: .zero)
    let health = try report.health.get()
    let good = health.findings.filter { $0.level == .good }
    let view: View = [
      "problems": rows(health.problems), "hasProblems": !health.problems.isEmpty, "findings": rows(good),
      "facts": [
        ["name": "Store", "value": "\(type(of: jobs.store))"],
        ["name": "Time of the store", "value": "\(jobs.store.now)"],
        ["name": "The checks took", "value": Readable.duration(report.duration)],
        ["name": "Maximum size of a payload", "value": Readable.count(jobs.store.maxPayloadSize, "byte")],
      ] as [View],
    ]
    return Page(template: "health", heading: "Health", view: view)
  }

  /// The maximum number of problems at the top of each page.
  private static let problemLimit = 3

  /// Returns what is wrong now, for the top of each page.
  func healthSign(_ report: HealthWatch.Report) -> View {
    let problems: [JobsHealth.Finding]
    switch report.health {
    case .success(let health): problems = health.problems
    case .failure(let error):
      let text = "The health of the store can't be checked. \(Refusal(error).text)"
      problems = [JobsHealth.Finding(level: .bad, name: "Store", text: text)]
    }
    var view: View = [
      "problems": rows(problems.prefix(Self.problemLimit)), "hasProblems": !problems.isEmpty, "url": url("health"),
    ]
    let rest = problems.count - Self.problemLimit
    view["moreProblems"] = rest > 0 ? "and \(rest) more" : nil
    return view
  }

  private func rows(_ findings: some Sequence<JobsHealth.Finding>) -> [View] {
    var counts: [String: Int] = [:]
    return findings.map { finding in
      counts[finding.name, default: 0] += 1
      var view: View = [
        "level": finding.level.rawValue, "name": finding.name,
        "text": PageZone.current.localized(finding.text),
        "key": "\(finding.name)-\(counts[finding.name, default: 0])",
      ]
      view["show"] = finding.link.map { ["url": url(for: $0), "label": Self.label(of: $0)] as View }
      return view
    }
  }

  private static func label(of link: JobsHealth.Link) -> String {
    switch link {
    case .jobs(let filter): filter.ids?.count == 1 ? "Show the job" : "Show these jobs"
    case .queue: "Show the queue"
    case .schedule: "Show the schedule"
    case .worker: "Show the worker"
    case .errors: "Show the errors"
    }
  }

  /// Returns the address of the page that shows what a finding is about.
  func url(for link: JobsHealth.Link) -> String {
    switch link {
    case .jobs(let filter):
      if let ids = filter.ids, ids.count == 1 { return url("job/\(ids[0])") }
      func only<Value>(_ values: Set<Value>?) -> Value? { values?.count == 1 ? values?.first : nil }
      return url(
        "jobs",
        ["state": only(filter.states)?.name, "kind": only(filter.kinds)?.rawValue, "queue": only(filter.queues)])
    case .queue(let name): return url("queues", ["from": name]) + "#" + Self.anchor("queue", name)
    case .schedule(let name): return url("schedules", ["from": name]) + "#" + Self.anchor("schedule", name)
    case .worker(let id): return url("workers", ["from": "\(id)"]) + "#" + Self.anchor("worker", "\(id)")
    case .errors: return url("errors")
    }
  }

  /// Returns the identifier of a part of a page, which addresses can contain.
  static func anchor(_ subject: String, _ name: String) -> String { "\(subject)-\(Link.encoded(name))" }
}
#endif
