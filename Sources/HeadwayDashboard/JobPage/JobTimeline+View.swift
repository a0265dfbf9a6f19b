#if Dashboard
import HeadwayJobs

extension JobTimeline {
  /// The width of the drawing, in its own units.
  private static let width = 1_000
  /// The maximum number of bytes of log lines that are shown in full.
  private static let maxLogLength = 48 * 1_024
  /// The number of characters of other log lines.
  private static let shortLength = 200

  /// Returns the values of the timeline, latest entry first.
  func view(at now: StoreTime) -> View {
    var rest = Self.maxLogLength
    return [
      "entries": entries.reversed().map { entry -> View in
        switch entry {
        case .attempt(let attempt): Self.view(of: attempt, at: now, &rest)
        case .change(let time, let state, let text):
          [
            "key": "\(time.microseconds) \(text)", "isAttempt": false, "state": state.name, "text": text,
            "time": Readable.time(time, at: now),
          ]
        }
      },
      "bars": bars(until: now), "width": Self.width, "isPartial": isPartial,
      "description": Readable.count(attempts.count, "attempt"),
    ]
  }

  private static func view(of attempt: Attempt, at now: StoreTime, _ rest: inout Int) -> View {
    var view: View = [
      "key": "\(attempt.start?.microseconds ?? 0) \(attempt.error?.time.microseconds ?? 0)", "isAttempt": true,
      "name": attempt.number.map { "Attempt \($0)" } ?? "Attempt", "outcome": attempt.outcome,
      "state": attempt.state.name, "log": attempt.log.map { logLine($0, at: now, &rest) },
    ]
    view["worker"] = attempt.worker.map { "\($0)" }
    view["start"] = attempt.start.map { Readable.time($0, at: now) }
    view["end"] = attempt.end.map { Readable.time($0, at: now) }
    view["ago"] = Readable.time(attempt.end ?? attempt.start ?? now, at: now)["text"]
    view["took"] = attempt.start.map { Readable.duration((attempt.end ?? now) - $0) }
    view["error"] = attempt.error.map { ["type": $0.type, "line": Readable.line($0.text)] as View }
    return view
  }

  private static func logLine(_ line: JobTransition, at now: StoreTime, _ rest: inout Int) -> View {
    let text = line.note ?? ""
    rest -= text.utf8.count
    return [
      "key": "\(line.time.microseconds) \(text.prefix(20))", "time": Readable.time(line.time, at: now),
      "text": rest >= 0 || text.count <= shortLength ? text : text.prefix(shortLength) + "…",
    ]
  }

  /// Returns the attempts as parts of the time since the job was stored.
  private func bars(until now: StoreTime) -> [View] {
    guard let first = entries.first?.time else { return [] }
    let last = attempts.compactMap(\.end).max() ?? now
    let end = attempts.contains { $0.end == nil } ? now : last
    let total = max(.milliseconds(1), end - first)
    func place(_ time: StoreTime) -> Int {
      Int((max(.zero, min(total, time - first)) / total * Double(Self.width)).rounded())
    }
    return attempts.compactMap { attempt -> View? in
      guard let start = attempt.start else { return nil }
      let x = min(place(start), Self.width - 3)
      let width = max(3, place(attempt.end ?? end) - x)
      return ["x": x, "barWidth": width, "state": attempt.state.name]
    }
  }
}
#endif
