extension TraceRecording {
  /// The heading of a timeline: the number of operations, of failures, and of lost events, and the time.
  var summary: String {
    var parts = ["\(counted(operations.count, "operation")) in \(timeText(extent))"]
    let failures = operations.lazy.filter { $0.result == .failure }.count
    if failures > 0 { parts.append("\(failures) failed") }
    let cancelled = operations.lazy.filter { $0.result == .cancelled }.count
    if cancelled > 0 { parts.append("\(cancelled) cancelled") }
    if lostEventCount > 0 {
      parts.append("incomplete: \(counted(lostEventCount, "event")) \(lostEventCount == 1 ? "was" : "were") lost")
    }
    return parts.joined(separator: " · ")
  }
}

/// Writes a number with a noun: `1 operation`, `2 operations`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
