#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List jobs, ordered by number.",
    discussion: "Without options that select jobs, all jobs are listed.")

  @OptionGroup var filter: JobFilterOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The maximum number of jobs to list.", valueName: "number"))
  var limit = 100

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("List only jobs whose numbers are greater than this number.", valueName: "job"))
  var after: Int64?

  @OptionGroup var options: JobStoreOptions

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--limit \(limit): use 1 or more.") }
  }

  func run() async throws {
    try await options.withStore { _, jobs in
      let last = after.map { JobID(rawValue: $0) }
      // Reads one more job than the limit, to find out whether there are more.
      let found = try await jobs.jobs(
        filter.filter(at: jobs.store.now), after: last, limit: limit == .max ? limit : limit + 1)
      let listed = found.prefix(limit)
      guard !options.json else {
        for job in listed { StandardStream.output.writeLine(JSONEvent.line(JobsJSON.Job(job))) }
        return
      }
      guard let end = listed.last else { return StandardStream.output.writeLine("No jobs.") }
      let rows = listed.map { job in
        [
          "\(job.id)", job.state.name, job.kind.rawValue, job.queue, "\(job.attempt)", "\(JobText.time(of: job))",
          JobText.details(of: job),
        ]
      }
      for line in JobText.table(["job", "state", "kind", "queue", "attempt", "time", ""], rows) {
        StandardStream.output.writeLine(line)
      }
      if found.count > limit { StandardStream.output.writeLine("There are more jobs: use --after \(end.id).") }
    }
  }
}
#endif
