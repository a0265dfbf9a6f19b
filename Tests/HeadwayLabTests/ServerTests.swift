#if Lab
import AsyncHTTPClient
import Foundation
import HeadwayLab
import HeadwayTestKit
import HeadwayTestSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@Suite("The lab's server", .hangLimit) struct ServerTests {
  @Test("Z2: a viewer receives the items in order with their log lines, and heartbeats")
  func view() async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      expect(try await viewer.next()?.name, is: "reset")
      expect(try await lab.post("api/run", #"{"techniques": ["custom"]}"#), is: 202)
      let (events, _) = try await viewer.events(through: "finished")
      #expect(items(events) == allItems)
      let lines = events.compactMap { $0["line"] as? String }
      #expect(lines.count == 50)
      #expect(lines.last?.hasSuffix("] OpQ Custom Added 5-10") == true)
      while let message = try await viewer.next() {
        guard message.name == "beats" else { continue }
        #expect(message.data.hasPrefix("["))
        return
      }
      Issue.record("No beats came.")
    }
  }

  @Test("Z2: a HEAD request returns the header fields of the page") func head() async throws {
    try await RunningLab.with { lab in
      let page = try await lab.get("")
      let head = try await lab.get("", .HEAD)
      expect(head.status, is: .ok)
      #expect(head.headers.first(name: "Content-Type") == page.headers.first(name: "Content-Type"))
      #expect(head.headers.first(name: "Content-Length") == page.headers.first(name: "Content-Length"))
    }
  }

  @Test("Z2: viewers are served while a technique blocks the main queue, and the gap is measured")
  func freeze() async throws {
    let entered = Gate()
    let goesOn = Gate()
    let blocked = Mutex(Duration.zero)
    try await RunningLab.with {
      entered.open()
      goesOn.wait()
    } _: { lab in
      var viewer = try await lab.viewer()
      expect(try await lab.post("api/run", #"{"techniques": ["main"]}"#), is: 202)
      await entered.untilOpen()
      let start = ContinuousClock.now
      // The main queue is blocked, so the server does all of this on its own threads.
      for _ in 0..<10 { expect(try await lab.get("").status, is: .ok) }
      _ = try await viewer.events(through: "began")
      blocked.withLock { $0 = .now - start }
      goesOn.open()
      let events = try await viewer.events(through: "finished").events
      let gap = try #require(events.last { $0["type"] as? String == "finished" }?["gap"] as? Double)
      let least = blocked.withLock { $0 } / .milliseconds(1)
      #expect(gap >= least)
    }
  }

  @Test("Z2: a viewer that reconnects gets each missed event once, unless the process has changed")
  func resumption() async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      try await lab.post("api/run", #"{"techniques": ["serial"]}"#)
      let identifier = try #require(try await viewer.events(through: "finished").identifier)
      try await lab.post("api/run", #"{"techniques": ["dispatch-serial"]}"#)
      var again = try await lab.viewer(after: identifier)
      let events = try await again.events(through: "finished").events
      #expect(items(events) == allItems)
      #expect(!events.contains { $0["technique"] as? String == "serial" })
      // A page that was hidden opens a new stream, and can't set a header for it.
      var shown = EventStream(try await lab.get("events?after=\(identifier)"))
      expect(items(try await shown.events(through: "finished").events), is: allItems)
      // An event that has not happened yet can't have been seen: it belongs to an earlier process, if its epoch is the
      // same.
      let epoch = identifier.split(separator: "-")[0]
      var later = try await lab.viewer(after: "\(epoch)-1000000")
      expect(try await later.next()?.name, is: "reset")
      var other = try await lab.viewer(after: "of-another-process-7")
      expect(try await other.next()?.name, is: "reset")
    }
  }

  @Test("Z2, Z4: a late viewer receives only the last run of each technique") func lateViewer() async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      for technique in ["custom", "serial", "custom"] {
        try await lab.post("api/run", #"{"techniques": ["\#(technique)"]}"#)
        _ = try await viewer.events(through: "finished")
      }
      var late = try await lab.viewer()
      _ = try await late.next()
      let message = try #require(try await late.next())
      let events = try message.events()
      #expect(events.filter { $0["type"] as? String == "started" }.compactMap { $0["run"] as? Int } == [2, 3])
      #expect(items(events).count == 100)
    }
  }

  @Test("Z2: 95 viewers receive a run to its end, even if other viewers read nothing") func manyViewers() async throws {
    try await RunningLab.with { lab in
      // These viewers are connected but never read.
      var sleeping: [EventStream] = []
      for _ in 0..<5 { sleeping.append(try await lab.viewer()) }
      try await withThrowingTaskGroup(of: [[Int]].self) { group in
        for _ in 0..<95 {
          var viewer = try await lab.viewer()
          group.addTask { items(try await viewer.events(through: "finished").events) }
        }
        try await lab.post("api/run", #"{"techniques": ["custom"]}"#)
        for try await seen in group { #expect(seen == allItems) }
      }
      #expect(sleeping.allSatisfy { $0.status == 200 })
    }
  }

  @Test("Z3: tasks are cancelled, suspended, resumed, and limited by POST requests") func control() async throws {
    try await RunningLab.with { lab in
      var viewer = try await lab.viewer()
      expect(try await lab.post("api/settings", #"{"isSuspended": true, "maximum": 2}"#), is: 202)
      try await lab.post("api/run", #"{"techniques": ["concurrent"]}"#)
      _ = try await viewer.events(through: "dependencies")
      expect(try await lab.post("api/priority", #"{"task": 5, "priority": 8}"#), is: 202)
      expect(try await lab.post("api/dependency", #"{"task": 2, "other": 4}"#), is: 202)
      expect(try await lab.post("api/dependency", #"{"task": 4, "other": 2}"#), is: 409)
      let sentence = try await lab.get("api/diagnosis/2").body.collect(upTo: 10_000)
      #expect(String(buffer: sentence).contains("“2” waits for “4”"))
      try await lab.post("api/cancel", #"{"task": 1}"#)
      try await lab.post("api/settings", #"{"isSuspended": false}"#)
      let events = try await viewer.events(through: "finished").events
      #expect(Set(items(events).map { $0[0] }) == [2, 3, 4, 5])
      for maximum in [-7, 0, 101] {
        expect(try await lab.post("api/settings", #"{"maximum": \#(maximum)}"#), is: 422)
      }
      expect(try await lab.post("api/run", #"{"techniques": ["unheard"]}"#), is: 422)
      expect(try await lab.post("api/run", "{"), is: 400)
    }
  }

  @Test(
    "Z3: a cancelled run finishes even if it is suspended afterward",
    arguments: ["concurrent", "serial", "custom", "dispatch-concurrent", "dispatch-serial"])
  func suspensionAfterCancelling(technique: String) async throws {
    let entered = Gate()
    let goesOn = Gate()
    try await RunningLab.with {
      entered.open()
      goesOn.wait()
    } _: { lab in
      var viewer = try await lab.viewer()
      try await lab.post("api/run", #"{"techniques": ["\#(technique)"]}"#)
      await entered.untilOpen()
      try await lab.post("api/cancel", "{}")
      try await lab.post("api/settings", #"{"isSuspended": true}"#)
      goesOn.open()
      let end = try await viewer.events(through: "finished").events.last { $0["type"] as? String == "finished" }
      #expect(end?["isCancelled"] as? Bool == true)
    }
  }

  @Test("Z3: stopping the lab cancels running tasks, and no other tasks start") func stopping() async throws {
    let entered = Gate()
    let goesOn = Gate()
    try await RunningLab.with {
      entered.open()
      goesOn.wait()
    } _: { lab in
      var viewer = try await lab.viewer()
      try await lab.post("api/run", #"{"techniques": ["serial", "custom"]}"#)
      await entered.untilOpen()
      lab.lab.stop()
      goesOn.open()
      let events = try await viewer.events(through: "finished").events
      #expect(items(events) == [[1, 1]])
      try await lab.post("api/run", #"{"techniques": ["main"]}"#)
      #expect(!lab.lab.isRunning)
    }
  }

  @Test("Z3: connections that arrive while the server stops are closed") func connectionsAtTheEnd() async throws {
    for _ in 0..<100 {
      let connections = Mutex<[any Channel]>([])
      try await RunningLab.with { lab in
        let port = try #require(lab.origin.split(separator: ":").last.flatMap { Int($0) })
        // They are still connecting when this closure returns, which stops the server.
        for _ in 0..<16 {
          ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: "127.0.0.1", port: port)
            .whenSuccess { connection in connections.withLock { $0.append(connection) } }
        }
      }
      for connection in connections.withLock({ $0 }) {
        // A connection that was never accepted detects the end only when it sends something.
        connection.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1"), promise: nil)
        try await connection.closeFuture.get()
      }
    }
  }

  @Test("A port that is in use is skipped") func takenPort() async throws {
    try await RunningLab.with { lab in
      let port = try #require(lab.origin.split(separator: ":").last.flatMap { Int($0) })
      let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
      let other = LabServer(LabServer.Options(port: port), lab: Lab(work: {}))
      let serving = Task.detached { try await other.run { continuation.yield($0) } }
      let address = await addresses.first { _ in true }
      #expect(address != nil && address != lab.address)
      serving.cancel()
      _ = await serving.result
    }
  }
}
#endif
