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
      let count = try await count(action.filter(list, at: jobs.store.now))
      view["phrase"] = action.phrase(count.text)
      view["what"] = list.description
      view["canConfirm"] = count.number > 0
      view["back"] = Link.to("\(base)/jobs", list.fields.filter { $0.0 != "until" })
      fields += list.fields
    }
    view["fields"] = fields.compactMap { name, value in value.map { ["name": name, "value": $0] as View } }
    return Page(template: "confirm", heading: action.phrase("jobs"), view: view)
  }

  /// Counts the jobs of a filter, up to the limit.
  private func count(_ filter: JobFilter) async throws -> (number: Int, text: String) {
    let page = try await jobs.ids(filter, limit: Self.countLimit)
    let number = page.ids.count
    guard page.next != nil else { return (number, Readable.count(number, "job")) }
    return (max(1, number), number == 0 ? "some jobs" : "\(Readable.number(number))+ jobs")
  }
}
#endif
