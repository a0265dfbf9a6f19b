#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The maximum number of groups on the page.
  private static let groupLimit = 30

  /// Shows the groups of failed attempts: those that are muted, or the others.
  func errors(_ call: Call) async throws -> Page {
    let (now, areMuted) = (jobs.store.now, call.query["muted"] != nil)
    let start = Int(max(0, min(call.query.number("from") ?? 0, Int64(JobErrorGroup.maxCount))))
    let end = start + Self.groupLimit
    let found = try await jobs.errorGroups(areMuted: areMuted, limit: end + 1)
    let others = try await jobs.errorGroups(areMuted: !areMuted, limit: 1)
    let shown = found.prefix(end).dropFirst(start)
    func page(areMuted: Bool, from start: Int? = nil) -> String {
      url("errors", ["muted": areMuted ? "1" : nil, "from": start.map { "\($0)" }])
    }
    var view: View = [
      "groups": shown.map { group($0, at: now) }, "hasGroups": !shown.isEmpty, "areMuted": areMuted,
      "hasOthers": !others.isEmpty, "otherURL": page(areMuted: !areMuted),
    ]
    view["next"] = found.count > end ? page(areMuted: areMuted, from: end) : nil
    view["first"] = start > 0 ? page(areMuted: areMuted) : nil
    return Page(template: "errors", heading: areMuted ? "Muted errors" : "Errors", view: view)
  }

  private func group(_ group: JobErrorGroup, at now: StoreTime) -> View {
    let id = group.id.description
    let recent = group.hourlyCounts.reduce(0, +)
    var view: View = [
      "id": id, "kind": group.kind.rawValue, "type": group.type, "text": Self.message(of: group),
      "url": url("jobs", ["error": id]),
      "attempts": "\(Readable.count(group.count, "attempt")) failed, \(Readable.number(recent)) in the last 24 hours",
      "first": Readable.time(group.firstSeenTime, at: now), "last": Readable.time(group.lastSeenTime, at: now),
      "lastJob": "\(group.lastJob)", "lastURL": url("job/\(group.lastJob)"),
      "retrying": Readable.number(group.retryingCount, countedTo: JobErrorGroup.maxJobCount),
      "retryingURL": url("jobs", ["state": JobState.retrying.name, "error": id]),
      "failed": Readable.number(group.failedCount, countedTo: JobErrorGroup.maxJobCount),
      "failedURL": url("jobs", ["state": JobState.failed.name, "error": id]), "isMuted": group.mute != nil,
    ]
    view["spark"] = recent > 0 ? Sparkline.view(group.hourlyCounts) : nil
    if group.failedCount > 0 {
      view["retryURL"] = url("confirm", ["action": "retry", "state": JobState.failed.name, "error": id])
    }
    if group.retryingCount > 0 {
      view["runURL"] = url("confirm", ["action": "run-now", "state": JobState.retrying.name, "error": id])
      view["cancelURL"] = url("confirm", ["action": "cancel", "error": id])
    }
    if let mute = group.mute {
      view["note"] = mute.note
      view["author"] = mute.author
      view["muted"] = Readable.time(mute.time, at: now)
      view["unmute"] = ChangeButton.view("Unmute", "unmute", ["error": id])
    }
    return view
  }

  /// Returns the values that describe a group on the pages of its jobs.
  func errorView(_ id: JobErrorGroup.ID?) async throws -> View? {
    guard let id else { return nil }
    let group = try await jobs.errorGroup(id)
    return [
      "id": "\(id)", "type": group?.type ?? "an error",
      "text": group.map(Self.message) ?? "that is no longer counted",
      "url": url("errors", ["muted": group?.mute == nil ? nil : "1"]) + "#error-\(id)",
    ]
  }

  /// Returns the text of the errors in a group, which has no text if they differ.
  private static func message(of group: JobErrorGroup) -> String {
    guard group.type == JobErrorGroup.otherErrors else { return group.text }
    return "More than \(JobErrorGroup.maxCountPerKind) different errors of this kind have occurred. "
      + "This group counts the errors after these."
  }
}

/// A small chart of numbers, one bar for each.
enum Sparkline {
  private static let height = 24
  private static let step = 5

  /// Returns the values of the chart of attempts by hour.
  static func view(_ counts: [Int]) -> View {
    let greatest = max(1, counts.max() ?? 1)
    let bars = counts.enumerated().filter { $0.element > 0 }.map { index, count in
      // Even a single attempt is visible.
      "M\(index * step) \(height)v-\(max(2, count * height / greatest))h\(step - 1)V\(height)z"
    }
    return [
      "path": bars.joined(), "width": counts.count * step, "height": height,
      "summary": "Failed attempts by hour over 24 hours: at most \(Readable.number(greatest)) in an hour, "
        + "\(Readable.number(counts.last ?? 0)) in the current hour",
    ]
  }
}
#endif
