#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check that the tables of a store agree, and that its database is intact.",
    discussion: """
      Each job must be in one table, each running job must have a worker, and each key must have one job. The exit \
      code is 1 if there is a defect. Jobs of workers that have died are not defects: the next living worker returns \
      them to their queues.
      """)

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { store, jobs in
      let defects = try await store.audit()
      let dead = try await jobs.snapshot(.workers).workers.filter { !$0.isAlive }
      var lines = defects.map { "defect: \($0)" }
      lines += dead.map { worker in
        let jobs = JobText.count(worker.running.count, "job")
        return "note: worker \(worker.id) has died; the next living worker returns its \(jobs) to the queue."
      }
      lines.append("\(options.location.name): \(JobText.count(defects.count, "defect")).")
      options.show(JobsJSON.Checked(defects: defects, deadWorkers: dead.map(\.id.rawValue)), lines)
      guard defects.isEmpty else { throw ExitCode(1) }
    }
  }
}
#endif
