#if Lab
import AsyncHTTPClient
import Dispatch
import HeadwayTestSupport
import LongRunningTechniques
import NIOCore
import NIOHTTP1
import Testing

@Suite("The lab's interactive pages", .hangLimit) struct PlayTests {
  /// The events of a type, up to and including the first event that `isLast` returns true for.
  private func events(
    _ type: String, of viewer: inout EventStream, through isLast: ([String: Any]) -> Bool
  ) async throws -> [[String: Any]] {
    var events: [[String: Any]] = []
    while let message = try await viewer.next() {
      guard message.name == "message" else { continue }
      for event in try message.events() where event["type"] as? String == type {
        events.append(event)
        if isLast(event) { return events }
      }
    }
    return events
  }

  private func boxes(_ event: [String: Any]) -> [[String: Any]] { event["boxes"] as? [[String: Any]] ?? [] }

  @Test("Z5: a touch is accepted while the main queue is busy, and answered when the queue is free")
  func touches() async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      let gate = DispatchSemaphore(value: 0)
      DispatchQueue.main.async { gate.wait() }
      defer { gate.signal() }
      for _ in 0..<3 {
        expect(try await lab.post("api/touch", #"{"viewer": "a", "x": 0.25, "y": 1}"#), is: 202)
      }
      expect(try await lab.post("api/settings", #"{"maximum": 3}"#), is: 202)
      var seen: [String] = []
      while !seen.contains("settings"), let message = try await viewer.next() {
        guard message.name == "message" else { continue }
        for event in try message.events() where event["maximum"] as? Int == 3 || event["type"] as? String == "touch" {
          seen.append(event["type"] as? String ?? "")
        }
      }
      #expect(seen == ["settings"])
      gate.signal()
      let answer = try await events("touch", of: &viewer) { $0["number"] as? Int == 3 }.last
      #expect(answer?["viewer"] as? String == "a" && answer?["x"] as? Double == 0.25)
      #expect(answer?["waited"] as? Double ?? -1 >= 0)
      gate.signal()
      for body in [#"{"viewer": "a", "x": 2, "y": 0}"#, #"{"viewer": "a", "x": 0, "y": -1}"#] {
        expect(try await lab.post("api/touch", body), is: 422)
      }
    }
  }

  @Test("Z5: a race runs all techniques with all items", arguments: [true, false])
  func race(withMain: Bool) async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      expect(try await lab.post("api/race/start", #"{"withMain": \#(withMain)}"#), is: 202)
      var lanes: [String: [String: Any]] = [:]
      var phase = ""
      while phase != "finished", let message = try await viewer.next() {
        guard message.name == "message" else { continue }
        for event in try message.events() {
          let type = event["type"] as? String ?? ""
          if type == "race" { phase = event["phase"] as? String ?? "" }
          if type.hasPrefix("race-") { lanes[event["technique"] as? String ?? ""] = event }
        }
      }
      let techniques = Technique.allCases.filter { withMain || $0 != .main }.map(\.rawValue)
      #expect(Set(lanes.keys) == Set(techniques))
      for (technique, lane) in lanes {
        let tasks = try #require(lane["tasks"] as? [[String: Any]])
        #expect(tasks.count == 5, "\(technique)")
        for task in tasks {
          #expect((task["items"] as? [Double])?.count == 10, "\(technique)")
          #expect(task["shown"] as? Double ?? -1 >= 0 && task["end"] as? Double ?? -1 >= 0, "\(technique)")
        }
        #expect(lane["end"] is Double, "\(technique)")
      }
    }
  }

  @Test("Z5: a cancelled race ends as cancelled, and the next race starts from the beginning")
  func cancelledRace() async throws {
    let gate = DispatchSemaphore(value: 0)
    let work: @Sendable () -> Void = {
      gate.wait()
      gate.signal()
    }
    try await RunningLab.with(work: work) { lab in
      var viewer = try await lab.viewer()
      expect(try await lab.post("api/race/start", #"{"withMain": false}"#), is: 202)
      expect(try await lab.post("api/race/start", "{}"), is: 409)
      expect(try await lab.post("api/race/cancel", "{}"), is: 202)
      gate.signal()
      let ended = try await events("race", of: &viewer) { $0["phase"] as? String != "running" }
      #expect(ended.last?["phase"] as? String == "cancelled")
      expect(try await lab.post("api/race/start", "{}"), is: 202)
      let next = try await events("race", of: &viewer) { $0["phase"] as? String == "finished" }
      #expect(next.last?["race"] as? Int == 2)
    }
  }

  @Test("Z5: all sleepers finish, and Headway's sleepers all sleep at the same time")
  func sleepers() async throws {
    let gate = DispatchSemaphore(value: 0)
    let work: @Sendable () -> Void = {
      gate.wait()
      gate.signal()
    }
    try await RunningLab.with(work: work) { lab in
      var viewer = try await lab.viewer()
      expect(try await lab.post("api/sleepers/start", "{}"), is: 202)
      expect(try await lab.post("api/sleepers/start", "{}"), is: 409)
      func side(_ event: [String: Any], _ name: String) -> [String: Any] { event[name] as? [String: Any] ?? [:] }
      let asleep = try await events("sleepers", of: &viewer) { side($0, "headway")["asleep"] as? Int == 200 }.last
      let sleeping = side(try #require(asleep), "headway")
      #expect(sleeping["states"] as? String == String(repeating: "s", count: 200))
      gate.signal()
      let ended = try await events("sleepers", of: &viewer) { $0["phase"] as? String == "finished" }.last
      let last = try #require(ended)
      for name in ["headway", "dispatch"] {
        let one = side(last, name)
        #expect(one["finished"] as? Int == 200 && one["asleep"] as? Int == 0)
        #expect(one["states"] as? String == String(repeating: "f", count: 200))
      }
      #expect(side(last, "headway")["mostAsleep"] as? Int == 200)
      expect(try await lab.post("api/sleepers/start", "{}"), is: 202)
      expect(try await lab.post("api/sleepers/cancel", "{}"), is: 202)
      _ = try await events("sleepers", of: &viewer) { $0["phase"] as? String != "running" }
    }
  }

  @Test("Z5: boxes run in the order that their connections require, and a cycle is rejected")
  func board() async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      for (from, to) in [(1, 2), (2, 3), (1, 4), (3, 5), (4, 5)] {
        expect(try await lab.post("api/board/connect", #"{"from": \#(from), "to": \#(to)}"#), is: 202)
      }
      // 5 waits for 3, which waits for 2, which waits for 1.
      for (from, to) in [(1, 1), (1, 2), (0, 1), (1, 9), (3, 1)] {
        expect(try await lab.post("api/board/connect", #"{"from": \#(from), "to": \#(to)}"#), is: 409)
      }
      let refused = try await events("board", of: &viewer) { ($0["cycle"] as? [Int])?.count == 4 }.last
      #expect(refused?["cycle"] as? [Int] == [1, 3, 2, 1])
      #expect(
        (refused?["message"] as? String)?.contains("Fetch waits for Parse waits for Unpack waits for Fetch") == true)
      #expect((refused?["edges"] as? [[Int]])?.count == 5)

      expect(try await lab.post("api/board/disconnect", #"{"from": 4, "to": 5}"#), is: 202)
      expect(try await lab.post("api/board/disconnect", #"{"from": 4, "to": 5}"#), is: 409)
      expect(try await lab.post("api/board/add", "{}"), is: 202)
      // Twice, because a board that has run can run again.
      for _ in 0..<2 {
        expect(try await lab.post("api/board/run", "{}"), is: 202)
        let run = try await events("board", of: &viewer) { $0["phase"] as? String == "finished" }
        for event in run where event["phase"] as? String == "running" {
          let steps = boxes(event).compactMap { $0["steps"] as? Int }
          for (from, to) in [(1, 2), (2, 3), (1, 4), (3, 5)] { #expect(steps[to - 1] == 0 || steps[from - 1] == 8) }
        }
        let states = boxes(try #require(run.last)).map { $0["state"] as? String }
        #expect(states == Array(repeating: "finished", count: 7))
      }
    }
  }

  @Test("Z5: a running board can be cancelled, and reports what a box waits for") func cancelledBoard() async throws {
    let gate = DispatchSemaphore(value: 0)
    let work: @Sendable () -> Void = {
      gate.wait()
      gate.signal()
    }
    try await RunningLab.with(work: work) { lab in
      var viewer = try await lab.viewer()
      expect(try await lab.post("api/board/connect", #"{"from": 1, "to": 2}"#), is: 202)
      expect(try await lab.post("api/board/run", "{}"), is: 202)
      expect(try await lab.post("api/board/run", "{}"), is: 409)
      expect(try await lab.post("api/board/clear", "{}"), is: 409)
      let answer = try await lab.get("api/board/diagnosis/2")
      expect(answer.status, is: .ok)
      let text = String(buffer: try await answer.body.collect(upTo: 10_000))
      #expect(text.contains("Fetch"), "\(text)")
      // While it runs, operations that have not started can still be held back. Operations that have started can't.
      _ = try await events("board", of: &viewer) { boxes($0).first?["state"] as? String == "executing" }
      expect(try await lab.post("api/board/connect", #"{"from": 3, "to": 2}"#), is: 202)
      expect(try await lab.post("api/board/connect", #"{"from": 3, "to": 1}"#), is: 409)
      expect(try await lab.post("api/board/cancel", "{}"), is: 202)
      gate.signal()
      let ended = try await events("board", of: &viewer) { $0["phase"] as? String == "cancelled" }.last
      #expect(ended != nil)
      expect(try await lab.post("api/board/clear", "{}"), is: 202)
    }
  }
}
#endif
