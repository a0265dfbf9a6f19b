import Foundation
import HeadwayTrace
import Testing

/// A Chrome trace, parsed by Foundation.
struct ParsedTrace {
  struct Event {
    let object: [String: Any]

    var name: String { object["name"] as? String ?? "" }
    var phase: String { object["ph"] as? String ?? "" }
    var tid: Int? { object["tid"] as? Int }
    var ts: Double? { (object["ts"] as? NSNumber)?.doubleValue }
    var dur: Double? { (object["dur"] as? NSNumber)?.doubleValue }
    var id: String? { object["id"] as? String }
    var args: [String: Any] { object["args"] as? [String: Any] ?? [:] }
    func argument(_ key: String) -> String? { args[key] as? String }
    func number(_ key: String) -> Double? { (args[key] as? NSNumber)?.doubleValue }
  }

  let all: [Event]
  let displayTimeUnit: String
  let otherData: [String: String]

  init(_ recording: TraceRecording) throws {
    let object = try JSONSerialization.jsonObject(with: Data(recording.render(as: .chromeTrace).utf8)) as? [String: Any]
    let root = try #require(object)
    all = try #require(root["traceEvents"] as? [[String: Any]]).map(Event.init)
    displayTimeUnit = try #require(root["displayTimeUnit"] as? String)
    otherData = try #require(root["otherData"] as? [String: String])
  }

  func events(_ phase: String, category: String? = nil) -> [Event] {
    all.filter { $0.phase == phase && (category == nil || $0.object["cat"] as? String == category) }
  }

  /// Checks all rules of the format.
  func check() {
    for event in all {
      #expect(event.object["pid"] as? Int == 1 && event.tid ?? 0 > 0 && event.object["name"] is String)
      #expect(["M", "X", "i", "s", "f", "b", "e"].contains(event.phase))
      if event.phase != "M" { #expect(event.ts ?? -1 >= 0 && event.object["cat"] is String) }
      if event.phase == "X" { #expect(event.dur ?? -1 >= 0) }
    }
    let named = Set(events("M").filter { $0.name == "thread_name" }.compactMap(\.tid))
    for event in events("X") { #expect(named.contains(event.tid ?? 0)) }
    checkNesting()
    checkFlows()
    checkWaits()
  }

  /// Checks that each slice of a track is inside the previous slice or begins after its end.
  func checkNesting() {
    for (track, events) in Dictionary(grouping: events("X"), by: { $0.tid ?? 0 }) {
      // Times in nanoseconds are exact below 2⁵³.
      let slices = events.compactMap { event -> (start: Double, end: Double)? in
        let (start, duration) = (((event.ts ?? 0) * 1000).rounded(), ((event.dur ?? 0) * 1000).rounded())
        return start + duration < 0x1p53 ? (start, start + duration) : nil
      }
      var openEnds: [Double] = []
      for slice in slices.sorted(by: { ($0.start, $1.end) < ($1.start, $0.end) }) {
        while let end = openEnds.last, end <= slice.start { openEnds.removeLast() }
        if let end = openEnds.last { #expect(slice.end <= end, "on track \(track)") }
        openEnds.append(slice.end)
      }
    }
  }

  /// Checks that each arrow has one start and one end, in order, each of them at a slice.
  func checkFlows() {
    let ends = Dictionary(grouping: events("f")) { $0.id ?? "" }
    #expect(events("s").count == events("f").count)
    let slices = Dictionary(grouping: events("X")) { $0.tid ?? 0 }
    for start in events("s") {
      guard let id = start.id, id.hasPrefix("0x"), let end = ends[id]?.first, ends[id]?.count == 1 else {
        Issue.record("The arrow \(start.id ?? "nil") has no end, or several.")
        continue
      }
      #expect(start.name == end.name && start.object["cat"] as? String == end.object["cat"] as? String)
      #expect(start.ts ?? 0 <= end.ts ?? 0)
      let time = start.ts ?? -1
      let isBound = slices[start.tid ?? 0]?.contains { slice in
        guard let begin = slice.ts, let duration = slice.dur else { return false }
        return begin <= time && time <= begin + duration
      }
      #expect(isBound == true)
      #expect(slices[end.tid ?? 0]?.contains { $0.ts == end.ts } == true)
    }
  }

  /// Checks that each asynchronous event has one beginning and one end, in order.
  func checkWaits() {
    let ends = Dictionary(grouping: events("e")) { $0.id ?? "" }
    #expect(events("b").count == events("e").count)
    for begin in events("b") {
      let end = ends[begin.id ?? ""]
      #expect(end?.count == 1 && end?[0].name == begin.name && begin.ts ?? 0 <= end?[0].ts ?? -1)
    }
  }
}
