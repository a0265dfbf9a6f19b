#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a job, and explain why it does not run.",
    discussion: "The payload and the result are shown as they are stored.")

  @Argument(help: ArgumentHelp("The number of the job.", valueName: "job"))
  var id: Int64

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let id = JobID(rawValue: id)
      guard let job = try await jobs.job(id) else { throw MissingJob(id: id) }
      let diagnosis = try await jobs.diagnose(id)
      options.show(JobsJSON.Job(job, diagnosis: diagnosis), Self.lines(job, diagnosis))
    }
  }

  private static func lines(_ job: JobRecord, _ diagnosis: String) -> [String] {
    let properties: [(String, String?)] = [
      ("kind", "\(job.kind), version \(job.version)"), ("queue", job.queue), ("label", job.settings.label),
      ("tags", job.settings.tags?.joined(separator: ", ")), ("priority", "\(job.priority)"),
      ("key", job.settings.unique?.key),
      ("limits", job.settings.limits?.map(\.description).joined(separator: ", ")), ("enqueued", "\(job.enqueuedTime)"),
      ("due", job.dueTime?.description), ("waits for", job.wait?.description),
      ("deadline", job.deadline?.description), ("claimed", job.claimedTime?.description),
      ("finished", job.finishedTime?.description), ("kept until", job.expirationTime?.description),
      ("attempts", job.attempt == 0 ? nil : "\(job.attempt)"),
      ("crashes", job.crashCount == 0 ? nil : "\(job.crashCount)"),
      ("progress", job.progress.map(JobText.progress)), ("payload", JobText.text(job.payload)),
      ("result", job.result.map(JobText.text)),
    ]
    var lines = ["\(ToolExit.sentence(diagnosis.prefix(1).uppercased() + diagnosis.dropFirst()))"]
    for case (let name, let value?) in properties { lines.append("\(name.padded(to: 12))\(value)") }
    for error in job.history.errors {
      lines.append("error       \(error.time) in attempt \(error.attempt): \(error.text) (\(error.type))")
    }
    for transition in job.history.transitions {
      let worker = transition.worker.map { ", worker \($0)" } ?? ""
      lines.append(
        "history     \(transition.time) \(transition.state.name)\(worker)\(transition.note.map { ": \($0)" } ?? "")")
    }
    return lines
  }
}
#endif
