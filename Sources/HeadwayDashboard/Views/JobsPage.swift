#if Dashboard
import HeadwayJobs

extension PageRenderer {
  private static let pageSize = 50

  func jobList(_ call: Call) async throws -> Page {
    let (list, now) = (try ListFilter(call.query), jobs.store.now)
    let before = call.query.number("before").map { JobID(rawValue: $0) }
    let page = try await jobs.ids(list.filter(at: now), before: before, limit: Self.pageSize)
    let found = try await records(page.ids)
    var view: View = [
      "jobs": found.map { row($0, at: now) }, "hasJobs": !found.isEmpty, "isFiltered": !list.isEmpty,
      "states": JobState.allCases.map { ["name": $0.name, "isChosen": $0 == list.state] as View },
      "ages": ListFilter.Age.allCases.map { age -> View in
        ["value": age.rawValue, "name": age.name, "isChosen": age == list.age]
      },
      "kindFilter": list.kind ?? "", "queueFilter": list.queue ?? "", "tagFilter": list.tag ?? "",
      "labelFilter": list.label ?? "", "allURL": url("jobs"),
    ]
    view["next"] = page.next.map { Link.to("\(base)/jobs", list.fields + [("before", "\($0)")]) }
    view["isSearching"] = page.next != nil && page.ids.count < Self.pageSize
    view["first"] = before.map { _ in Link.to("\(base)/jobs", list.fields) }
    view["bulk"] = found.isEmpty ? [] : bulkLinks(list)
    return Page(template: "jobs", heading: "Jobs", view: view)
  }

  /// Returns links to the changes that are possible for all jobs of a filter.
  private func bulkLinks(_ list: ListFilter) -> [View] {
    DashboardChange.Action.allCases.filter { $0.applies(to: list.state) }.map { action in
      [
        "name": action.phrase("all") + "…",
        "url": Link.to("\(base)/confirm", [("action", action.rawValue)] + list.fields),
      ]
    }
  }

  /// Returns a row of a list of jobs.
  func row(_ job: JobRecord, at now: StoreTime) -> View {
    [
      "id": "\(job.id)", "url": url("job/\(job.id)"), "state": job.state.name, "kind": job.kind.rawValue,
      "kindURL": url("jobs", ["kind": job.kind.rawValue]), "queue": job.queue,
      "queueURL": url("jobs", ["queue": job.queue]), "label": job.settings.label ?? "",
      "tags": (job.settings.tags ?? []).map { ["tag": $0, "tagURL": url("jobs", ["tag": $0])] as View },
      "attempt": job.attempt, "time": Readable.time(Readable.time(of: job), at: now),
      "details": Readable.details(of: job), "isCancelRequested": job.isCancelRequested,
    ]
  }
}
#endif
