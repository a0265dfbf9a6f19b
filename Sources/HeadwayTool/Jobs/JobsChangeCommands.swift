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
      try await targets.check(jobs)
      options.show(JobsJSON.Changed(try await jobs.perform(.retry(targets.filter)))) { "\($0) will run again." }
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
      try await targets.check(jobs)
      options.show(JobsJSON.Changed(try await jobs.cancel(targets.filter))) { "\($0) cancelled." }
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
    show(changed, [sentence(changed.changed == 1 ? "1 job" : "\(changed.changed) jobs")])
  }
}
#endif
