#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The maximum number of schedules on the page.
  private static let scheduleLimit = 80

  func schedules(_ call: Call) async throws -> Page {
    let (schedules, now) = (try await jobs.schedules(), jobs.store.now)
    let (shown, links) = Self.part(of: schedules, from: call.query["from"], limit: Self.scheduleLimit, by: \.name) {
      url("schedules", ["from": $0])
    }
    let rows = shown.map { schedule -> View in
      let definition = schedule.definition
      var view: View = [
        "name": schedule.name, "anchor": Self.anchor("schedule", schedule.name),
        "times": definition.schedule.description, "kind": definition.kind.rawValue,
        "queue": definition.queue, "isPaused": schedule.isPaused,
      ]
      view["next"] = schedule.nextTickTime.map { Readable.time($0, at: now) }
      view["lastTick"] = schedule.lastTickTime.map { Readable.time($0, at: now) }
      view["lastJob"] = schedule.lastJob.map { ["id": "\($0)", "url": url("job/\($0)")] as View }
      view["buttons"] = [
        ChangeButton.view("Run now", "run", ["schedule": schedule.name]),
        schedule.isPaused
          ? ChangeButton.view("Resume", "resume-schedule", ["schedule": schedule.name])
          : ChangeButton.view("Pause", "pause-schedule", ["schedule": schedule.name]),
      ]
      return view
    }
    let view: View = ["schedules": rows, "hasSchedules": !rows.isEmpty]
    return Page(template: "schedules", heading: "Schedules", view: view.merging(links) { $1 })
  }
}
#endif
