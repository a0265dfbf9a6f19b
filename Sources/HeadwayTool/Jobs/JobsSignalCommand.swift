#if Jobs
import ArgumentParser
@_spi(JobStore) import HeadwayJobs

struct JobsSignalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "signal", abstract: "Send a signal to jobs that have not ended.",
    discussion: """
      A job that waits for the signal becomes ready. The other jobs keep the signal until they wait for it. The \
      command prints how many jobs have received the signal.
      """)

  @Option(help: "The name of the signal.")
  var name: String

  // JSON can begin with a minus sign.
  @Option(
    parsing: .unconditional, help: ArgumentHelp("The value of the signal. (default: true)", valueName: "json"),
    transform: JobPayload.init(json:))
  var value: JobPayload?

  @OptionGroup var targets: JobTargets
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let signal = JobSignal(name: name, value: value ?? JobPayload(bytes: Array("true".utf8)))
      let count = try await jobs.signal(targets.filter(in: jobs), signal)
      options.show(JobsJSON.Changed(count), ["\(JobText.count(count, "job")) received the signal."])
    }
  }
}
#endif
