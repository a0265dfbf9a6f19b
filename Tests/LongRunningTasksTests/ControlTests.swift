import Foundation
import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import LongRunningTechniques

/// A run whose items each wait for a gate, and the reports.
private final class Scene: Sendable {
  let recorder = EventRecorder<TaskEvent>()
  let began = EventRecorder<Int>()
  let added = EventRecorder<Int>()
  let finished = Gate()
  let firstItem = Gate()
  let goesOn = Gate()
  private let held = Mutex<TechniqueRun?>(nil)

  init(_ technique: Technique) {
    let run = TechniqueRun(
      technique,
      work: { [firstItem, goesOn] in
        firstItem.open()
        goesOn.wait()
      },
      report: { [recorder, began, added, finished] event in
        recorder.record(event)
        if case .began(let task) = event.kind { began.record(task) }
        if case .added(let task, _) = event.kind { added.record(task) }
        if event.kind == .finished { finished.open() }
      })
    held.withLock { $0 = run }
  }

  var run: TechniqueRun { held.withLock { $0! } }

  func items(of task: Int) -> Int {
    recorder.events.count { event in if case .added(task, _) = event.kind { true } else { false } }
  }

  /// Starts the first item of each task that can run, changes something, and runs to the end.
  func finish(changing change: @escaping @Sendable (TechniqueRun) -> Void) async {
    run.start()
    await firstItem.untilOpen()
    change(run)
    goesOn.open()
    await finished.untilOpen()
  }
}

@Suite("Control of techniques", .hangLimit) struct ControlTests {
  @Test("Z3: cancelling stops a technique after the items that it is creating", arguments: Technique.allCases)
  func cancelAll(technique: Technique) async {
    let scene = Scene(technique)
    await scene.finish { $0.cancel() }
    for task in 1...5 {
      // `concurrentPerform` runs several items of a task at the same time; the other techniques run one.
      if technique != .dispatchConcurrent { #expect(scene.items(of: task) <= 1) }
      #expect(scene.recorder.events.contains { $0.kind == .ended(task: task, isCancelled: true) })
    }
    #expect(scene.recorder.events.count { if case .added = $0.kind { true } else { false } } < 50)
  }

  @Test(
    "Z3: cancelling one task stops it after its current item, and the other tasks continue",
    arguments: [Technique.main, .serial, .custom, .dispatchSerial])
  func cancelOne(technique: Technique) async {
    let scene = Scene(technique)
    await scene.finish { $0.cancel(task: 1) }
    #expect((1...5).map { scene.items(of: $0) } == [1, 10, 10, 10, 10])
  }

  @Test(
    "Z3: a task that is cancelled while it waits adds nothing", arguments: [Technique.serial, .custom, .dispatchSerial])
  func cancelWaiting(technique: Technique) async {
    let scene = Scene(technique)
    await scene.finish { $0.cancel(task: 4) }
    #expect((1...5).map { scene.items(of: $0) } == [10, 10, 10, 0, 10])
  }

  @Test(
    "Z3: suspending lets running tasks continue, and other tasks start after resuming",
    arguments: [Technique.serial, .custom, .dispatchSerial])
  func suspension(technique: Technique) async {
    let scene = Scene(technique)
    scene.run.start()
    await scene.firstItem.untilOpen()
    scene.run.setSuspended(true)
    scene.goesOn.open()
    await offMain { scene.added.waitForEvents(count: 10) }
    #expect(scene.began.events == [1])
    scene.run.setSuspended(false)
    await scene.finished.untilOpen()
    #expect(scene.began.events == [1, 2, 3, 4, 5])
  }

  @Test("Z3: a suspended run ends when it is cancelled", arguments: [Technique.concurrent, .serial, .dispatchSerial])
  func cancelSuspended(technique: Technique) async {
    let scene = Scene(technique)
    scene.run.setSuspended(true)
    scene.run.start()
    scene.goesOn.open()
    await MainActor.run {}  // Returns after the start.
    scene.run.cancel()
    await scene.finished.untilOpen()
    #expect((1...5).allSatisfy { scene.items(of: $0) == 0 })
  }

  @Test("Z3: the maximum number of concurrent tasks can be changed while they run") func limit() async {
    let scene = Scene(.concurrent)
    scene.run.setMaximumConcurrency(1)
    scene.run.start()
    await scene.firstItem.untilOpen()
    #expect(scene.began.count == 1)
    scene.run.setMaximumConcurrency(3)
    await offMain { scene.began.waitForEvents(count: 3) }
    scene.goesOn.open()
    await scene.finished.untilOpen()
  }

  @Test("Z3: waiting tasks start in priority order") func priorities() async {
    let scene = Scene(.concurrent)
    scene.run.setMaximumConcurrency(1)
    await scene.finish { run in
      #expect(run.setPriority(.veryHigh, of: 5))
      #expect(run.setPriority(.high, of: 3))
      #expect(!run.setPriority(.high, of: 1), "It runs.")
    }
    #expect(scene.began.events == [1, 5, 3, 2, 4])
  }

  @Test("Z3: a waiting task can get a dependency on another task, but not in a cycle") func dependency() async {
    let scene = Scene(.concurrent)
    scene.run.setMaximumConcurrency(1)
    await scene.finish { run in
      #expect(run.addDependency(of: 2, on: 4))
      #expect(!run.addDependency(of: 4, on: 2), "They would wait for each other.")
      #expect(!run.addDependency(of: 3, on: 1), "It runs.")
      #expect(run.dependencies[2] == [4])
      #expect(run.diagnosis(of: 2)?.contains("waits for “4”") == true)
    }
    #expect(scene.began.events == [1, 3, 4, 2, 5] || scene.began.events == [1, 3, 4, 5, 2])
  }
}
