#if Jobs
import ArgumentParser
import HeadwayJobs

/// A change of the jobs that are selected by numbers or options.
protocol SelectedJobsChange {
  static var configuration: CommandConfiguration { get }
  /// The end of the sentence that begins with the number of changed jobs.
  static var outcome: String { get }

  static func command(_ filter: JobFilter) -> JobCommand
}

/// The command that makes such a change.
struct ChangeJobsCommand<Change: SelectedJobsChange>: AsyncParsableCommand {
  static var configuration: CommandConfiguration { Change.configuration }

  @OptionGroup var targets: JobTargets
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let changed = try await jobs.perform(Change.command(targets.filter(in: jobs)))
      options.show(JobsJSON.Changed(changed), ["\(JobText.count(changed, "job")) \(Change.outcome)."])
    }
  }
}

enum RetryJobs: SelectedJobsChange {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Run failed and cancelled jobs again, with new attempts.",
    discussion: "Jobs in other states, and jobs whose unique key is held by another job, remain as they are.")
  static let outcome = "will run again"

  static func command(_ filter: JobFilter) -> JobCommand { .retry(filter) }
}

enum CancelJobs: SelectedJobsChange {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel jobs that have not ended.",
    discussion: "If a job is running, its worker cancels it within a second.")
  static let outcome = "cancelled"

  static func command(_ filter: JobFilter) -> JobCommand { .cancel(filter) }
}

enum AbandonJobs: SelectedJobsChange {
  static let configuration = CommandConfiguration(
    commandName: "abandon", abstract: "Cancel running jobs immediately, and take them from their workers.",
    discussion: """
      Use this command if the code of a job does not respond to 'headway jobs cancel'. The code might still run, but \
      its worker can no longer write anything for the job.
      """)
  static let outcome = "abandoned"

  static func command(_ filter: JobFilter) -> JobCommand { .abandon(filter) }
}

enum DeleteJobs: SelectedJobsChange {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete finished jobs, even before their retention period ends.",
    discussion: "Jobs that have not ended, and jobs that unfinished jobs depend on, remain as they are.")
  static let outcome = "deleted"

  static func command(_ filter: JobFilter) -> JobCommand { .delete(filter) }
}

enum RunJobsNow: SelectedJobsChange {
  static let configuration = CommandConfiguration(
    commandName: "run-now", abstract: "Make jobs due now if they have not started, or wait for their next attempt.",
    discussion: """
      The jobs wait for a worker, after the jobs that already wait. Jobs that wait for other jobs continue to wait for \
      them.
      """)
  static let outcome = "made due now"

  static func command(_ filter: JobFilter) -> JobCommand { .change(filter, .runNow) }
}

struct JobsPruneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Delete finished jobs past their retention period.",
    discussion: "Workers do this every minute.")

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let deleted = try await jobs.perform(.prune)
      options.show(JobsJSON.Changed(deleted), ["\(JobText.count(deleted, "job")) deleted."])
    }
  }
}
#endif
