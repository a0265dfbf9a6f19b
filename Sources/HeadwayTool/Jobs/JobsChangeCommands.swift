#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Run failed and cancelled jobs again, with new attempts.",
    discussion: "Jobs in other states, and jobs whose unique key is held by another job, remain as they are.")

  @OptionGroup var targets: JobTargets
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let changed = try await jobs.retry(targets.filter(in: jobs))
      options.show(JobsJSON.Changed(changed)) { "\($0) will run again." }
    }
  }
}

struct JobsCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel jobs that have not ended.",
    discussion: "If a job is running, its worker cancels it within a second.")

  @OptionGroup var targets: JobTargets
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      options.show(JobsJSON.Changed(try await jobs.cancel(targets.filter(in: jobs)))) { "\($0) cancelled." }
    }
  }
}

struct JobsAbandonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "abandon", abstract: "Cancel running jobs immediately, and take them from their workers.",
    discussion: """
      Use this command if the code of a job does not respond to 'headway jobs cancel'. The code might still run, but \
      its worker can no longer write anything for the job.
      """)

  @OptionGroup var targets: JobTargets
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      options.show(JobsJSON.Changed(try await jobs.abandon(targets.filter(in: jobs)))) { "\($0) abandoned." }
    }
  }
}

struct JobsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete finished jobs, even if their retention is not over.",
    discussion: "Jobs that have not ended, and jobs that unfinished jobs depend on, remain as they are.")

  @OptionGroup var targets: JobTargets
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      options.show(JobsJSON.Changed(try await jobs.delete(targets.filter(in: jobs)))) { "\($0) deleted." }
    }
  }
}

struct JobsRunNowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run-now", abstract: "Make jobs due now if they have not started, or wait for their next attempt.",
    discussion: """
      The jobs wait for a worker, after the jobs that already wait. Jobs that wait for other jobs continue to wait for \
      them.
      """)

  @OptionGroup var targets: JobTargets
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let changed = try await jobs.change(targets.filter(in: jobs), .runNow)
      options.show(JobsJSON.Changed(changed)) { "\($0) made due now." }
    }
  }
}

struct JobsPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Stop all workers from claiming jobs of a queue.",
    discussion: "Running jobs continue, and jobs can still be added.")

  @Argument(help: "The name of the queue.") var queue: String
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let isChanged = try await jobs.perform(.setPaused(queue: queue, true)) > 0
      options.show(
        JobsJSON.Changed(isChanged ? 1 : 0), ["The queue \(queue) \(isChanged ? "is paused" : "was already paused")."])
    }
  }
}

struct JobsResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Let workers claim jobs of a paused queue again.")

  @Argument(help: "The name of the queue.") var queue: String
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let isChanged = try await jobs.perform(.setPaused(queue: queue, false)) > 0
      options.show(
        JobsJSON.Changed(isChanged ? 1 : 0), ["The queue \(queue) \(isChanged ? "is resumed" : "was not paused")."])
    }
  }
}

struct JobsPruneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Delete finished jobs whose retention is over.",
    discussion: "Workers do this every minute.")

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      options.show(JobsJSON.Changed(try await jobs.perform(.prune))) { "\($0) deleted." }
    }
  }
}

extension JobStoreOptions {
  /// Prints how many jobs a command has changed.
  fileprivate func show(_ changed: JobsJSON.Changed, _ sentence: (String) -> String) {
    show(changed, [sentence(JobText.count(changed.changed, "job"))])
  }
}
#endif
