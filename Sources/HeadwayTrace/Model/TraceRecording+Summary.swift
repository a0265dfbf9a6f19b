import Headway

extension TraceRecording {
  /// The heading of a timeline: the number of operations, of failures, and of lost events, and the time.
  var summary: String {
    let count = operations.count
    var parts = ["\(count) operation\(count == 1 ? "" : "s") in \(timeText(extent))"]
    let failures = operations.lazy.filter { $0.result == .failure }.count
    if failures > 0 { parts.append("\(failures) failed") }
    let cancelled = operations.lazy.filter { $0.result == .cancelled }.count
    if cancelled > 0 { parts.append("\(cancelled) cancelled") }
    if lostEventCount > 0 { parts.append("incomplete: \(lostEventCount) events were lost") }
    return parts.joined(separator: " · ")
  }
}
