#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsLimitsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limits", abstract: "List the limits that running jobs use, by key.",
    discussion: """
      Limits that are reached come first. Up to \(runningLimit) running jobs are read. 'headway jobs show' explains \
      which limit a waiting job waits for.
      """)

  private static let runningLimit = 10_000

  @Option(help: ArgumentHelp("The maximum number of limits to list.", valueName: "count"))
  var limit = 100

  @OptionGroup var options: JobStoreOptions

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit \(limit): use 1 or more.") }
  }

  func run() async throws {
    try await options.withStore { _, jobs in
      let usages = try await jobs.limitUsages(readingTo: Self.runningLimit)
      let listed = usages.prefix(limit)
      guard !options.json else {
        for usage in listed { StandardStream.output.writeLine(JSONEvent.line(JobsJSON.LimitUsage(usage))) }
        return
      }
      var lines = JobText.table(["key", "limit", "jobs", "units", ""], listed.map(Self.row))
      if usages.isEmpty { lines = ["No running job has a limit."] }
      if listed.count < usages.count {
        let rest = usages.count - listed.count
        lines.append("\(rest) more limit\(rest == 1 ? "" : "s"). Use --limit to list all.")
      }
      for line in lines { StandardStream.output.writeLine(line) }
    }
  }

  private static func row(_ usage: JobLimitUsage) -> [String] {
    let units = usage.maxRunningWeight.map { "\(usage.runningWeight) of \($0)" } ?? "-"
    return [
      usage.limit.key, usage.limit.ruleDescription, "\(usage.runningCount)", units, usage.isReached ? "reached" : "",
    ]
  }
}

extension JobsJSON {
  /// A limit that running jobs use.
  struct LimitUsage: Encodable {
    let limit: Job.Limit
    let running: Int
    let runningWeight: Int
    let isReached: Bool

    init(_ usage: JobLimitUsage) {
      var limit = usage.limit
      limit.weight = 1
      self.limit = Job.Limit(limit)
      (running, runningWeight, isReached) = (usage.runningCount, usage.runningWeight, usage.isReached)
    }
  }
}
#endif
