#if Dashboard
import HeadwayJobs

extension PageRenderer {
  func schedules(_ call: Call) async throws -> Page {
    let (schedules, now) = (try await jobs.schedules(), jobs.store.now)
    let rows = schedules.map { schedule -> View in
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
    return Page(
      template: "schedules", heading: "Schedules", view: ["schedules": rows, "hasSchedules": !rows.isEmpty])
  }
}
#endif
