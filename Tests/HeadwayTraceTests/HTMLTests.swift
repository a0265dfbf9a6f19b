import Foundation
import HeadwayTrace
import Testing

@Suite("HTML page", .hangLimit) struct HTMLTests {
  private func parse(_ recording: TraceRecording) throws -> [String: Any] {
    let page = recording.render(as: .html)
    let parts = page.components(separatedBy: "<script type=\"application/json\" id=\"recording\">")
    try #require(parts.count == 2)
    let json = try #require(parts[1].components(separatedBy: "</script>").first)
    #expect(!json.contains { "<>&\u{2028}\u{2029}".contains($0) })
    // The ends of the data and of the program, and no other script or address.
    #expect(page.components(separatedBy: "</script>").count == 3)
    #expect(page.components(separatedBy: "<script").count == 3)
    #expect(!page.contains("<!--"))
    let program = page.replacingOccurrences(of: json, with: "")
    for word in ["http:", "https:", "src=", "href=", "@import", "url(", "fetch("] {
      #expect(!program.contains(word), "\(word)")
    }
    return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
  }

  @Test("The page contains the recording, its rows, and its critical path") func smallRecording() throws {
    let data = try parse(.small)
    let recording = try JSONDecoder().decode(
      TraceRecording.self, from: JSONSerialization.data(withJSONObject: try #require(data["recording"])))
    #expect(recording == .small)
    let rows = try #require(data["rows"] as? [[String: Any]])
    #expect(rows.map { $0["kind"] as? String } == ["spans", "runs", "runs", "waits", "runs", "waits"])
    let bars = try #require(rows[1]["bars"] as? [[Int64]])
    #expect(bars == [[0, 1, 0, 30_000_000], [2, 1, 60_000_000, 70_000_000]])
    #expect(data["path"] as? [Int] == [3])
    #expect(data["summary"] as? String == "4 operations in 100 ms · 1 failed")
  }

  @Test("Names can't break out of the page's data") func names() throws {
    var recording = TraceRecording.small
    recording.operations[0].name = TraceRecording.strangeName
    recording.threads[0].name = TraceRecording.strangeName
    let data = try parse(recording)
    let operations = (data["recording"] as? [String: Any])?["operations"] as? [[String: Any]]
    #expect(operations?.first?["name"] as? String == TraceRecording.strangeName)
  }

  @Test("Empty, impossible, and large recordings have pages") func others() throws {
    #expect(try parse(TraceRecording(duration: 0))["extent"] as? Int == 1)
    for seed in 0..<20 as Range<UInt64> { _ = try parse(.random(seed: seed)) }
    let rows = try parse(.generated(operationCount: 10_000, seed: 5))["rows"] as? [[String: Any]]
    let counts = rows?.filter { $0["kind"] as? String == "runs" }.map { ($0["bars"] as? [Any])?.count ?? 0 }
    #expect(counts?.reduce(0, +) ?? 0 > 10_000)
  }
}
