import Foundation
import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import LongRunningTechniques

/// Runs a technique to its end and returns the events.
private func events(
  of technique: Technique, work: @escaping @Sendable () -> Void = {},
  started: (TechniqueRun) -> Void = { _ in }
) async -> [TaskEvent] {
  let recorder = EventRecorder<TaskEvent>()
  let finished = Gate()
  let run = TechniqueRun(technique, work: work) { event in
    recorder.record(event)
    if event.kind == .finished { finished.open() }
  }
  run.start()
  started(run)
  await finished.untilOpen()
  return recorder.events
}

private func items(_ events: [TaskEvent]) -> [[Int]] {
  events.compactMap { event in
    if case .added(let task, let item) = event.kind { [task, item] } else { nil }
  }
}

private let all = (1...5).flatMap { task in (1...10).map { [task, $0] } }

@Suite("Techniques of the lab", .hangLimit) struct TechniqueTests {
  @Test(
    "Z1: each technique adds 10 items for each of 5 tasks, shows each section, and finishes once",
    arguments: Technique.allCases)
  func complete(technique: Technique) async {
    let events = await events(of: technique)
    #expect(items(events).sorted { $0.lexicographicallyPrecedes($1) } == all)
    #expect(events.filter { $0.kind == .finished }.count == 1)
    // Completion blocks are called some time after the end.
    let last = events.last { if case .completed = $0.kind { false } else { true } }
    #expect(last?.kind == .finished)
    for task in 1...5 {
      #expect(events.filter { $0.kind == .shown(task: task, count: 10) }.count == 1)
      #expect(events.filter { $0.kind == .ended(task: task, isCancelled: false) }.count == 1)
    }
  }

  @Test(
    "Z1, Z4: the serial techniques add their items in task order",
    arguments: [Technique.main, .serial, .custom, .dispatchSerial])
  func order(technique: Technique) async {
    #expect(items(await events(of: technique)) == all)
  }

  @Test(
    "Z1: threads and the concurrent queue run all tasks at the same time",
    arguments: [Technique.background, .concurrent])
  func overlapping(technique: Technique) async {
    // No task continues until all tasks are in their first item.
    let arrived = Mutex(0)
    let gate = Gate()
    let events = await events(of: technique) {
      let count = arrived.withLock { count in
        count += 1
        return count
      }
      if count == 5 { gate.open() }
      gate.wait()
    }
    #expect(Set(events.compactMap { if case .began = $0.kind { $0.thread } else { nil } }).count == 5)
  }

  @Test("Z1: only the main thread technique runs on the main queue", arguments: Technique.allCases)
  func threads(technique: Technique) async {
    let onMain = Mutex<Set<Bool>>([])
    _ = await events(of: technique) {
      onMain.withLock { _ = $0.insert(Headway.OperationQueue.current === Headway.OperationQueue.main) }
    }
    #expect(onMain.withLock { $0 } == [technique == .main])
  }

  @Test("Z1: the concurrent operation queue calls the completion block of each task") func completionBlocks() async {
    let completed = EventRecorder<Int>()
    let run = TechniqueRun(.concurrent, work: {}) { event in
      if case .completed(let task) = event.kind { completed.record(task) }
    }
    run.start()
    await offMain { completed.waitForEvents(count: 5) }
    #expect(completed.events.sorted() == [1, 2, 3, 4, 5])
  }

  @Test("Z1: a log line contains the time, program, process, thread, technique, and item")
  func logLine() throws {
    let kind = TaskEvent.Kind.added(task: 3, item: 7)
    let event = TaskEvent(
      kind: kind, time: .zero, date: Date(timeIntervalSince1970: 1_512_019_708.712214), thread: 181_158)
    let zone = try #require(TimeZone(secondsFromGMT: 8 * 3_600))
    let line = try #require(LogLine(timeZone: zone).text(of: event, .background))
    let process = ProcessInfo.processInfo.processIdentifier
    #expect(line.hasPrefix("2017-11-30 13:28:28.712"))
    #expect(line.hasSuffix("+0800 LongRunningTasks[\(process):181158] Background Added 3-7"))
    #expect(line.wholeMatch(of: /[-0-9]{10} [:0-9]{8}\.\d{6}\+0800 .*/) != nil)
  }
}

/// Blocks a thread that is not the main one.
func offMain(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      body()
      continuation.resume()
    }
  }
}
