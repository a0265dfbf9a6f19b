#if Lab
import AsyncHTTPClient
import HeadwayTestSupport
import NIOCore
import NIOHTTP1
import Testing

@Suite("The lab's practice pages", .hangLimit) struct WorkshopTests {
  /// The events on a page, up to the first event that `isLast` returns true for.
  ///
  /// The event is included.
  private func last(
    _ type: String, of viewer: inout EventStream, where isLast: ([String: Any]) -> Bool
  ) async throws -> [String: Any]? {
    while let message = try await viewer.next() {
      guard message.name == "message" else { continue }
      if let event = try message.events().last(where: { $0["type"] as? String == type && isLast($0) }) {
        return event
      }
    }
    return nil
  }

  @Test(
    "An import or a search that is cancelled immediately after its start ends as cancelled",
    arguments: [
      ("import", #"{"stopTimes": 5000000}"#), ("lines", #"{"megabytes": 1000, "text": "error"}"#),
    ])
  func cancelling(page: String, body: String) async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      for _ in 0..<10 {
        // The previous run might not have finished completely.
        while try await lab.post("api/\(page)/start", body) == 409 { await Task.yield() }
        expect(try await lab.post("api/\(page)/cancel", "{}"), is: 202)
        let ended = try await last(page, of: &viewer) {
          !["generating", "running"].contains($0["phase"] as? String)
        }
        #expect(ended?["phase"] as? String == "cancelled")
      }
    }
  }

  @Test("Cells that are visible in any of several windows are drawn") func windows() async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      for (window, first) in [("a", 0), ("b", 100)] {
        let body = #"{"viewer": "\#(window)", "first": \#(first), "count": 4}"#
        expect(try await lab.post("api/drawing/visible", body), is: 202)
      }
      let wanted = [0, 1, 2, 3, 100, 101, 102, 103]
      let event = try await last("drawing", of: &viewer) { $0["ready"] as? [Int] == wanted }
      #expect(event != nil)
      for content in wanted {
        let image = try await lab.get("drawing/\(content)")
        expect(image.status, is: .ok)
        let bytes = try await image.body.collect(upTo: 1_000_000)
        #expect(bytes.readableBytes > 100)
      }
    }
  }
}
#endif
