#if Dashboard
import HTTPTypes
import Headway
@_spi(JobStore) import HeadwayJobs

extension PageRenderer {
  func job(_ call: Call, _ number: String) async throws -> Page {
    guard let id = Int64(number).map({ JobID(rawValue: $0) }), let job = try await jobs.job(id) else {
      throw Refusal(.notFound, "The store has no such job: it was deleted or never existed.")
    }
    let now = jobs.store.now
    let neighbors = try await JobNeighbors.read(of: id, from: jobs)
    var view = row(job, at: now)
    view["diagnosis"] = PageZone.current.localized(Readable.sentence(try await jobs.diagnose(id)))
    view["cause"] = Self.cause(of: job, neighbors)
    view["lastChange"] = try await lastChange(of: id, at: now)
    view["properties"] = properties(of: job, at: now)
    view["payload"] = text(job.payload)
    view["payloadSize"] = Readable.count(job.payload.bytes.count, "byte")
    view["result"] = job.result.map(text)
    view["resultSize"] = job.result.map { Readable.count($0.bytes.count, "byte") }
    view["progressText"] = job.progress.map(Readable.progress)
    view["progressValue"] = job.progress.map { "\(Int($0.fraction * 100))" }
    view["errors"] = ErrorComparison(job.history.errors).views(at: now)
    view["hasErrors"] = !job.history.errors.isEmpty
    view["timeline"] = JobTimeline(job).view(at: now)
    view["dependencies"] = neighbors.dependencies(of: id).map { neighbor($0, at: now) }
    view["dependents"] = neighbors.dependents(of: id).map { neighbor($0, at: now) }
    view["hasDependencies"] = !neighbors.dependencies(of: id).isEmpty
    view["hasDependents"] = !neighbors.dependents(of: id).isEmpty
    view["hasGraph"] = !neighbors.edges.isEmpty
    view["graph"] = GraphDrawing.view(neighbors, around: id) { url("job/\($0)") }
    view["buttons"] = buttons(for: job, hasDependents: neighbors.edges.contains { $0.dependency == id })
    // While the job runs, the form is hidden, because the text in it must remain until the next attempt.
    view["form"] = job.state.isFinished ? nil : JobForm(job, hiding: options.redactedKeys, zone: .current).view
    view["abandonURL"] = job.state == .running ? url("confirm", ["action": "abandon", "id": "\(id)"]) : nil
    return Page(template: "job", heading: "Job \(id)", view: view)
  }

  private func text(_ payload: JobPayload) -> String {
    JSONText.text(of: payload.bytes, hiding: options.redactedKeys)
  }

  private func buttons(for job: JobRecord, hasDependents: Bool) -> [View] {
    let id = "\(job.id)"
    var buttons: [View] = []
    if [.failed, .cancelled].contains(job.state) {
      buttons.append(ChangeButton.view("Retry", "retry", ["id": id], style: "main"))
      if hasDependents {
        buttons.append(ChangeButton.view("Retry with dependents", "retry", ["id": id, "dependents": "1"]))
      }
    }
    if DashboardChange.Action.runNow.applies(to: job.state) {
      buttons.append(ChangeButton.view("Run now", "run-now", ["id": id]))
    }
    if !job.state.isFinished, !job.isCancelRequested {
      buttons.append(ChangeButton.view("Cancel", "cancel", ["id": id], style: "bad"))
    }
    return buttons
  }

  /// Returns the values of a job in a list of neighbors.
  private func neighbor(_ job: JobRecord, at now: StoreTime) -> View {
    [
      "id": "\(job.id)", "url": url("job/\(job.id)"), "state": job.state.name,
      "name": job.settings.label ?? job.kind.rawValue, "time": Readable.time(Readable.time(of: job), at: now),
    ]
  }

  /// Returns a sentence that names the jobs at the beginning of a chain of waiting jobs; nil if there is no chain.
  private static func cause(of job: JobRecord, _ neighbors: JobNeighbors) -> String? {
    let direct = Set(neighbors.dependencies(of: job.id).map(\.id))
    let causes = neighbors.causes(of: job.id)
    guard job.state == .held, causes.contains(where: { !direct.contains($0.id) }) else { return nil }
    let names = causes.prefix(5).map {
      "job \($0.id) (\($0.settings.label ?? $0.kind.rawValue)), which is \($0.state.name)"
    }
    let more = causes.count > 5 ? ", and \(Readable.count(causes.count - 5, "other job"))" : ""
    return "The chain begins with \(names.joined(separator: "; "))\(more)."
  }

  private func properties(of job: JobRecord, at now: StoreTime) -> [View] {
    let settings = job.settings
    var properties: [View] = []
    func add(_ name: String, _ value: String?, _ path: String? = nil) {
      guard let value else { return }
      var view: View = ["name": name, "value": value]
      view["link"] = path
      properties.append(view)
    }
    func add(_ name: String, _ time: StoreTime?) {
      if let time { properties.append(["name": name, "when": Readable.time(time, at: now)]) }
    }
    let kind = job.version == 1 ? job.kind.rawValue : "\(job.kind), version \(job.version)"
    add("kind", kind, url("jobs", ["kind": job.kind.rawValue]))
    add("queue", job.queue, url("jobs", ["queue": job.queue]))
    for tag in settings.tags ?? [] { add("tag", tag, url("jobs", ["tag": tag])) }
    add("priority", job.priority == 0 ? nil : "\(job.priority)")
    let maxAttemptCount = (settings.retry ?? JobOptions.defaultRetry).maxAttemptCount
    add("attempt", "\(job.attempt) of \(maxAttemptCount)")
    add(
      "last error", job.errorGroup.map { _ in "jobs with this error" },
      url("jobs", ["error": job.errorGroup?.description]))
    add("crashes", job.crashCount == 0 ? nil : "\(job.crashCount)")
    add("snoozes", job.snoozeCount == 0 ? nil : "\(job.snoozeCount)")
    add("key", settings.unique?.key)
    for limit in settings.limits ?? [] { add("limit", "\(limit)") }
    add("schedule", settings.tick?.schedule, url("schedules", ["from": settings.tick?.schedule]))
    add("time limit", settings.timeout.map(Readable.duration))
    add(
      "worker", job.owner.map { "\($0)" },
      job.state == .running ? url("workers", ["from": job.owner.map { "\($0)" }]) : nil)
    add("enqueued", job.enqueuedTime)
    add("due", job.dueTime)
    add("waits for", job.wait?.description)
    add("deadline", job.deadline)
    add("claimed", job.claimedTime)
    add("finished", job.finishedTime)
    if let claimed = job.claimedTime, let finished = job.finishedTime, finished >= claimed {
      add("took", Readable.duration(finished - claimed))
    }
    add("kept until", job.expirationTime)
    return properties
  }
}
#endif
