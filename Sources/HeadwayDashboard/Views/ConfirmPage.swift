#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// Shows how many jobs a change affects, for confirmation.
  func confirm(_ call: Call) async throws -> Page {
    guard call.canChange else { throw Refusal.readOnly }
    guard let action = call.query["action"].flatMap(DashboardChange.Action.init) else { throw Refusal.noPage }
    var view: View = ["effect": action.effect]
    var fields: [(String, String?)] = [("action", action.rawValue)]
    if let id = call.query.number("id") {
      guard let job = try await jobs.job(JobID(rawValue: id)) else { throw Refusal.noPage }
      view["phrase"] = action.phrase("1 job")
      view["what"] = "job \(id), \(job.kind)"
      view["canConfirm"] = action.states.contains(job.state)
      view["back"] = url("job/\(id)")
      fields.append(("id", "\(id)"))
    } else {
      var list = try ListFilter(call.query)
      guard action.applies(to: list.state) else { throw Refusal.badForm }
      // Jobs that are added later are not changed.
      list.until = list.until ?? jobs.store.now
      let count = try await ListSearch(jobs, hiding: options.redactedKeys)
        .count(action.filter(list, at: jobs.store.now), upTo: Self.countLimit)
      view["phrase"] = action.phrase(Self.text(of: count))
      view["what"] = list.description
      view["error"] = try await errorView(list.error)
      view["note"] = count.isExact ? Self.note(about: count.count, of: list) : nil
      view["canConfirm"] = count.count > 0 || !count.isExact
      view["back"] = Link.to("\(base)/jobs", list.listFields)
      fields += list.fields
    }
    view["fields"] = fieldViews(fields)
    return Page(template: "confirm", heading: action.phrase("jobs"), view: view)
  }

  /// Returns a sentence about selected jobs that the change does not affect; nil if there are none.
  private static func note(about count: Int, of list: ListFilter) -> String? {
    guard let ids = list.ids, count < ids.count else { return nil }
    return ids.count - count == 1
      ? "1 selected job is in another state, so it remains as it is."
      : "\(Readable.number(ids.count - count)) selected jobs are in other states, so they remain as they are."
  }
}
#endif
