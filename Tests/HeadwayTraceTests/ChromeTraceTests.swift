import Foundation
import HeadwayTrace
import Testing

@Suite("Chrome trace", .hangLimit) struct ChromeTraceTests {
  @Test("A small recording has every kind of event, with the times of the recording in microseconds")
  func smallRecording() throws {
    let trace = try ParsedTrace(.small)
    #expect(trace.displayTimeUnit == "ms")

    let runs = trace.events("X", category: "operation")
    #expect(runs.map(\.name) == ["parse", "watch", "commit", "index", "commit"])
    let parse = try #require(runs.first { $0.name == "parse" })
    #expect(parse.ts == 0 && parse.dur == 30_000)
    #expect(parse.argument("queue") == "work")
    #expect(parse.argument("result") == "success")
    let index = try #require(runs.first { $0.name == "index" })
    #expect(index.ts == 32_000 && index.dur == 28_000)
    #expect(index.number("dependencyWaitMicroseconds") == 30_000)
    #expect(index.number("queueWaitMicroseconds") == 2000)

    let commits = runs.filter { $0.name == "commit" }.sorted { $0.ts ?? 0 < $1.ts ?? 0 }
    #expect(commits.map { $0.number("attempt") } == [1, 2])
    #expect(commits.map { $0.argument("result") } == [nil, "failure"])
    #expect(commits[1].argument("error") == "The disk is full")
    #expect(commits[0].argument("error") == nil)

    let watch = try #require(runs.first { $0.name == "watch" })
    #expect(watch.ts == 10_000 && watch.dur == 90_000)
    #expect(watch.args["isUnfinished"] as? Bool == true)

    let span = try #require(trace.events("X", category: "span").first)
    #expect(span.name == "read" && span.ts == 2000 && span.dur == 6000)
    let mark = try #require(trace.events("i").first)
    #expect(mark.name == "first byte" && mark.ts == 3000 && mark.object["s"] as? String == "t")
  }

  @Test("Blocked threads are slices inside the runs, and suspended queues have tracks") func interruptions() throws {
    let trace = try ParsedTrace(.interrupted)
    let blocked = trace.events("X", category: "blocked")
    #expect(blocked.map(\.ts) == [10_000, 90_000] && blocked.map(\.dur) == [10_000, 10_000])
    #expect(blocked.map { $0.args["isUnfinished"] as? Bool } == [nil, true])
    let suspensions = trace.events("b", category: "suspended") + trace.events("e", category: "suspended")
    #expect(suspensions.map(\.ts) == [31_000, 98_000, 32_000, 100_000])
    #expect(suspensions.allSatisfy { $0.name == "Suspended: work" })
  }

  @Test("Times have nanoseconds as decimals") func nanoseconds() throws {
    let recording = TraceRecording(
      duration: 2000, operations: [.init(name: "short", runs: [.init(startTime: 1234, endTime: 1235, thread: 0)])])
    let text = recording.render(as: .chromeTrace)
    #expect(text.contains("\"ts\":1.234"))
    #expect(text.contains("\"dur\":0.001"))
    #expect(try ParsedTrace(recording).displayTimeUnit == "ns")
  }

  @Test("Runs that overlap on a thread are on further tracks with its name, unless they are nested")
  func tracks() throws {
    let trace = try ParsedTrace(.small)
    let names = trace.events("M").filter { $0.name == "thread_name" }.map { $0.argument("name") }
    #expect(names == ["worker 1", "worker 1 (2)", "worker 2"])
    #expect(trace.events("M").first?.name == "process_name")
    let runs = trace.events("X")
    let track = { name in runs.first { $0.name == name }?.tid }
    #expect(track("parse") == track("read"))
    #expect(track("parse") != track("watch"))
  }

  @Test("Arrows lead from the end of a dependency to the start of the dependent, and from a parent to its child")
  func flows() throws {
    let trace = try ParsedTrace(.small)
    let starts = trace.events("s")
    let ends = trace.events("f")
    #expect(starts.map(\.name) == ["dependency", "dependency", "added"])
    #expect(starts.map(\.ts) == [29_999.999, 59_999.999, 40_000])
    #expect(ends.map(\.ts) == [32_000, 60_000, 60_000])
    #expect(ends.allSatisfy { $0.object["bp"] as? String == "e" })
    trace.checkFlows()
  }

  @Test("The time between adding and start is an asynchronous event named after the queue") func waits() throws {
    let trace = try ParsedTrace(.small)
    let begins = trace.events("b")
    #expect(begins.map(\.name) == ["Waiting in work", "Waiting in io", "Waiting"])
    #expect(begins.map { $0.argument("operation") } == ["index", "commit", "watch"])
    #expect(begins.map(\.ts) == [0, 40_000, 5000])
    #expect(trace.events("e").map(\.ts) == [32_000, 60_000, 10_000])
    trace.checkWaits()
  }

  @Test("An empty recording is a valid file, and lost events are counted") func empty() throws {
    let trace = try ParsedTrace(TraceRecording(duration: 0, lostEventCount: 7))
    #expect(trace.all.map(\.name) == ["process_name"])
    #expect(trace.otherData == ["lostEventCount": "7"])
  }

  @Test("Names survive encoding") func names() throws {
    let recording = TraceRecording(
      duration: 10,
      operations: [
        .init(name: TraceRecording.strangeName, runs: [.init(startTime: 1, endTime: 2, thread: 0)])
      ], threads: [.init(name: TraceRecording.strangeName)])
    let trace = try ParsedTrace(recording)
    #expect(trace.events("X").first?.name == TraceRecording.strangeName)
    #expect(trace.events("M").last { $0.name == "thread_name" }?.argument("name") == TraceRecording.strangeName)
  }

  @Test("Ten thousand operations: all runs with their times, no overlaps, and complete pairs") func generated() throws {
    let recording = TraceRecording.generated(operationCount: 10_000, seed: 1)
    let trace = try ParsedTrace(recording)
    trace.check()
    let runs = recording.operations.flatMap { operation in operation.runs.map { (operation.name, $0) } }
    let events = trace.events("X")
    #expect(events.count == runs.count)
    var unmatched = Set(events.map { "\($0.name) \($0.ts ?? -1) \($0.dur ?? -1)" })
    for (name, run) in runs {
      let (start, end) = (nanoseconds(run.startTime), nanoseconds(run.endTime ?? .zero))
      unmatched.remove("\(name) \(Double(start) / 1000) \(Double(end - start) / 1000)")
    }
    #expect(unmatched.isEmpty)
    #expect(trace.events("s").filter { $0.name == "dependency" }.count > 5000)
  }

  /// The whole nanoseconds of a time, which the file contains.
  private func nanoseconds(_ time: Duration) -> Int64 {
    time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000
  }

  @Test("Impossible times and positions still result in a valid file", arguments: 0..<100 as Range<UInt64>)
  func impossible(seed: UInt64) throws {
    try ParsedTrace(.random(seed: seed)).check()
  }
}
