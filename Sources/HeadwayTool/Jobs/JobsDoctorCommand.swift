#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsDoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the health of a store, its workers and its database.",
    discussion: """
      Exits with 1 if a finding is bad, and with 0 if there are only warnings. The command commits a small change, in \
      order to measure how long that takes.
      """)

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let health = try await jobs.health(measuringCommit: true)
      let text = HealthText(health: health, location: options.location)
      options.show(JobsJSON.Health(health.findings, text), text.findings)
      guard health.level < .bad else { throw ExitCode(1) }
    }
  }
}
#endif
