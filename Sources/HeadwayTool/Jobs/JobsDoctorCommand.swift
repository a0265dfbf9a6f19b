#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsDoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the health of a store, its workers and its database.",
    discussion: """
      Exits with 1 if a finding is bad. The command commits a small change, in order to measure how long that \
      takes.
      """)

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let health = try await jobs.health(measuringCommit: true)
      options.show(
        JobsJSON.Health(level: health.level, findings: health.findings),
        JobText.table(["", "", ""], health.findings.map { [$0.level.rawValue, $0.name, $0.text] }).dropFirst().map(
          \.self))
      guard health.level < .bad else { throw ExitCode(1) }
    }
  }
}
#endif
