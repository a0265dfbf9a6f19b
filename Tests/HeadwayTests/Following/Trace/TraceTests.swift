import HeadwayTestKit
import HeadwayTestSupport
import HeadwayTrace
import Synchronization
import Testing

@testable import Headway

/// Each test has its own process: a trace includes all queues of the process and keeps operation errors.
@Suite("Traces", .hangLimit) struct TraceTests {
  /// Returns the operations of the queue with the given name.
  private static func operations(of name: String, in recording: TraceRecording) -> [TraceRecording.Operation] {
    recording.operations.filter { $0.queue.map { recording.queues[$0].name } == name }
  }

  @Test("Q19: a trace shows when operations were added, became ready, ran, and finished, and what they waited for")
  func times() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue(name: "trace times", maxConcurrentOperationCount: 3)
      let recording = try await Trace.record {
        let parse = BlockOperation(name: "parse")
        let index = BlockOperation(name: "index")
        index.addDependency(parse)
        queue.addOperations([index, parse], waitUntilFinished: false)
        try await queue.untilAllOperationsAreFinished()
      }
      let found = Self.operations(of: "trace times", in: recording)
      try #require(found.map(\.name) == ["index", "parse"])
      let (index, parse) = (found[0], found[1])
      #expect(index.dependencies.map { recording.operations[$0] } == [parse] && parse.dependencies == [])
      #expect(index.readyTime == parse.finishedTime && parse.readyTime == parse.addedTime)
      #expect(recording.queues[try #require(index.queue)].maxConcurrentOperationCount == 3)
      for operation in found {
        try #require(operation.runs.count == 1)
        let run = operation.runs[0]
        let times = [.zero, operation.addedTime, operation.readyTime, run.startTime, run.endTime, recording.duration]
        #expect(times.compactMap { $0 } == times.compactMap { $0 }.sorted() && !times.contains(nil))
        #expect(run.endTime == operation.finishedTime && operation.result == .success && operation.error == nil)
        #expect(recording.threads[run.thread].name.hasPrefix("headway-"))
      }
      #expect(recording.lostEventCount == 0)
    }
  }

  @Test("Q19: a trace shows how operations ended, and which operation added them")
  func results() async {
    await #expect(processExitsWith: .success) {
      let (queue, started, end) = (OperationQueue(name: "trace results"), Gate(), Gate())
      queue.failureHandler = nil
      let recording = try await Trace.record {
        queue.addOperation(
          BlockOperation(name: "parent") {
            let cancelled = BlockOperation(name: "cancelled")
            cancelled.cancel()
            queue.addOperation(cancelled)
            queue.addOperation(BlockOperation(name: "failing") { throw Mishap(name: "reason") })
          })
        try await queue.untilAllOperationsAreFinished()
        let waiting = (0..<3).map { _ in BlockOperation {} }
        queue.isSuspended = true
        queue.addOperations(waiting, waitUntilFinished: false)
        queue.cancelAllOperations()
        for operation in waiting { try await operation.untilFinished() }
        queue.isSuspended = false
        queue.addOperation(
          BlockOperation(name: "unfinished") {
            started.open()
            end.wait()
          })
        await started.untilOpen()
      }
      end.open()
      let found = Self.operations(of: "trace results", in: recording)
      let parent = try #require(recording.operations.firstIndex { $0.name == "parent" })
      let failing = try #require(found.first { $0.name == "failing" })
      #expect(failing.parent == parent && failing.result == .failure && failing.error == "\(Mishap(name: "reason"))")
      let cancelled = found.filter { $0.name == "cancelled" }
      try #require(cancelled.count == 1)
      #expect(cancelled[0].result == .cancelled && cancelled[0].runs.isEmpty && cancelled[0].parent == parent)
      #expect(try #require(cancelled[0].addedTime) <= #require(cancelled[0].finishedTime))
      #expect(found.filter { $0.name == "BlockOperation" }.map(\.result) == [.cancelled, .cancelled, .cancelled])
      let unfinished = try #require(found.first { $0.name == "unfinished" })
      #expect(unfinished.finishedTime == nil && unfinished.result == nil)
      #expect(unfinished.runs.count == 1 && unfinished.runs[0].endTime == nil)
      #expect(unfinished.parent == nil)
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("Q19, X2: each attempt is a run, and the pauses are not")
  func attempts() async {
    await #expect(processExitsWith: .success) {
      let (queue, clock) = (OperationQueue(name: "trace attempts"), ManualClock())
      queue.clock = clock
      let recording = try await Trace.record {
        let task = queue.addTask(.retry(.constant(maxAttemptCount: 3, delay: .seconds(1)))) { attempt in
          if attempt < 3 { throw Mishap() }
        }
        for _ in 0..<2 {
          await clock.waitForSleepers(count: 1)
          clock.advance(by: .seconds(1))
        }
        try await task.value
        try await queue.untilAllOperationsAreFinished()
      }
      let found = Self.operations(of: "trace attempts", in: recording)
      try #require(found.count == 1 && found[0].runs.count == 3)
      #expect(found[0].name.hasPrefix("TaskOperation") && found[0].runs.allSatisfy { $0.endTime != nil })
      #expect(found[0].runs[0].endTime! <= found[0].runs[1].startTime)
    }
  }

  @Test("Q19: a trace shows when a queue was suspended, and dependencies that were added later") func changes() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue(name: "trace changes")
      let recording = try await Trace.record {
        queue.isSuspended = true
        queue.isSuspended = true
        let (first, second) = (BlockOperation(name: "first"), BlockOperation(name: "second"))
        queue.addOperations([first, second], waitUntilFinished: false)
        first.addDependency(second)
        queue.isSuspended = false
        try await queue.untilAllOperationsAreFinished()
        queue.isSuspended = true
      }
      let found = Self.operations(of: "trace changes", in: recording)
      try #require(found.map(\.name) == ["first", "second"])
      #expect(found[0].dependencies.map { recording.operations[$0].name } == ["second"])
      #expect(found[0].readyTime == found[1].finishedTime)
      let intervals = recording.queues[try #require(found[0].queue)].suspendedIntervals
      try #require(intervals.count == 2)
      #expect(try intervals[0].startTime < #require(intervals[0].endTime))
      #expect(try #require(intervals[0].endTime) <= found[1].runs[0].startTime && intervals[1].endTime == nil)
      queue.isSuspended = false
    }
  }

  @Test("Q19, T2: a trace shows when a thread waited inside an operation") func blocking() async {
    await #expect(processExitsWith: .success) {
      let (queue, other) = (OperationQueue(name: "trace blocking"), OperationQueue())
      let recording = try await Trace.record {
        other.isSuspended = true
        let inner = BlockOperation {}
        other.addOperation(inner)
        queue.addOperation(BlockOperation(name: "outer") { inner.waitUntilFinished() })
        await until { OperationQueue.snapshotAll().threads.contains { $0.state == .blocked && $0.operation != nil } }
        other.isSuspended = false
        try await queue.untilAllOperationsAreFinished()
      }
      let outer = try #require(Self.operations(of: "trace blocking", in: recording).first)
      let intervals = recording.threads[outer.runs[0].thread].blockedIntervals
      try #require(!intervals.isEmpty)
      #expect(intervals[0].startTime >= outer.runs[0].startTime)
      #expect(try #require(intervals[0].endTime) <= #require(outer.runs[0].endTime))
    }
  }

  @Test("Q19: a trace shows queues that were suspended before it began, and dependencies that were removed")
  func earlierChanges() async {
    await #expect(processExitsWith: .success) {
      let (suspended, queue) = (OperationQueue(name: "suspended before"), OperationQueue(name: "trace removal"))
      suspended.isSuspended = true
      let recording = try await Trace.record {
        let (never, second) = (BlockOperation {}, BlockOperation(name: "second"))
        let cancelled = BlockOperation(name: "third")
        second.addDependency(never)
        cancelled.addDependency(never)
        queue.addOperations([second, cancelled], waitUntilFinished: false)
        second.removeDependency(never)
        cancelled.cancel()
        try await queue.untilAllOperationsAreFinished()
        suspended.addOperation(never)
        suspended.isSuspended = false
        try await suspended.untilAllOperationsAreFinished()
      }
      let position = try #require(recording.queues.firstIndex { $0.name == "suspended before" })
      let intervals = recording.queues[position].suspendedIntervals
      try #require(intervals.count == 1)
      #expect(try intervals[0].startTime < #require(intervals[0].endTime))
      let found = Self.operations(of: "trace removal", in: recording)
      let second = try #require(found.first { $0.name == "second" })
      #expect(try #require(second.readyTime) <= second.runs[0].startTime)
      let third = try #require(found.first { $0.name == "third" })
      #expect(third.runs.isEmpty && third.result == .cancelled)
    }
  }

  @Test("Q19: spans and marks are recorded while there is a trace, and otherwise only the function is called")
  func spans() async {
    await #expect(processExitsWith: .success) {
      let evaluations = Counter()
      func name(_ name: String) -> String {
        evaluations.increment()
        return name
      }
      #expect(Trace.span(name("without a trace")) { 1 } == 1)
      Trace.mark(name("without a trace"))
      #expect(evaluations.value == 0)
      let recording = await Trace.record {
        Trace.mark("trace begins")
        let inner = Trace.span("trace outer") { Trace.span("trace inner") { 2 } }
        let asynchronous = await Trace.span("trace asynchronous") { await Task { 3 }.value }
        #expect(inner == 2 && asynchronous == 3)
        #expect(throws: Mishap.self) { try Trace.span("trace failing") { throw Mishap() } }
        Trace.mark(name("trace ends"))
      }
      #expect(evaluations.value == 1)
      let spans = recording.spans.filter { $0.name.hasPrefix("trace ") }
      try #require(
        spans.map(\.name) == ["trace outer", "trace inner", "trace asynchronous", "trace failing"])
      #expect(spans.allSatisfy { $0.endTime.map { $0 > .zero } == true })
      #expect(spans[0].startTime <= spans[1].startTime && spans[1].endTime! <= spans[0].endTime!)
      #expect(recording.marks.map(\.name).filter { $0.hasPrefix("trace ") } == ["trace begins", "trace ends"])
    }
  }

  @Test("Q19: each operation is recorded once, although operations run in batches and their memory is used again")
  func conservation() async {
    await #expect(processExitsWith: .success) {
      let queues = (0..<3).map { number in
        OperationQueue(name: "trace conservation \(number)", maxConcurrentOperationCount: [1, 2, -1][number])
      }
      let recording = try await Trace.record {
        await withTaskGroup(of: Void.self) { group in
          for queue in queues { group.addTask { for _ in 0..<2_000 { queue.addOperation {} } } }
        }
        for queue in queues { try await queue.untilAllOperationsAreFinished() }
      }
      #expect(recording.lostEventCount == 0)
      for queue in queues {
        let found = Self.operations(of: queue.name!, in: recording)
        #expect(found.count == 2_000)
        #expect(found.allSatisfy { $0.runs.count == 1 && $0.result == .success && $0.addedTime != nil })
        #expect(found.allSatisfy { $0.runs[0].startTime >= $0.addedTime! && $0.runs[0].endTime == $0.finishedTime })
      }
    }
  }

  @Test("Q19: a cancelled operation is shown only if it was added, and a running operation is shown")
  func cancelledAlone() async {
    await #expect(processExitsWith: .success) {
      let (queue, started, end) = (OperationQueue(name: "trace alone"), Gate(), Gate())
      let running = BlockOperation(name: "running") {
        started.open()
        end.wait()
      }
      queue.addOperation(running)
      await started.untilOpen()
      let recording = try await Trace.record {
        let (alone, twice) = (BlockOperation(name: "alone"), BlockOperation(name: "twice"))
        alone.cancel()
        twice.cancel()
        queue.addOperations([twice], waitUntilFinished: false)
        queue.addOperation(twice)
        end.open()
        try await queue.untilAllOperationsAreFinished()
      }
      #expect(Set(recording.operations.map(\.name)) == ["running", "twice"])
      #expect(recording.operations.count == 2 && recording.operations.allSatisfy { $0.finishedTime != nil })
    }
  }

  @Test("Q19: an operation is never mistaken for an earlier one at the same address, even if events were lost")
  func identity() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue(name: "trace identity", maxConcurrentOperationCount: 1)
      let recording = try await Trace.record(maxEventCountPerThread: 120) {
        for _ in 0..<100 {
          queue.addOperation {}
          try await queue.untilAllOperationsAreFinished()
        }
      }
      let found = Self.operations(of: "trace identity", in: recording)
      // How many events are lost depends on how many threads record them.
      let added = found.filter { $0.addedTime != nil }.sorted { $0.addedTime! < $1.addedTime! }
      #expect((1...100).contains(added.count))
      #expect(found.allSatisfy { $0.runs.count <= 1 })
      for operation in found {
        let times = [operation.addedTime, operation.runs.first?.startTime, operation.finishedTime].compactMap { $0 }
        #expect(times == times.sorted())
      }
      // Each end belongs to the operation that was added before it.
      for (operation, next) in zip(added, added.dropFirst()) {
        #expect(operation.finishedTime ?? .zero <= next.addedTime!)
      }
    }
  }

  @Test("Q19: a dependency that is added later is never mistaken for an earlier operation at the same address")
  func laterDependencies() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue(name: "trace later")
      let recording = try await Trace.record {
        for round in 0..<50 {
          queue.addOperation(BlockOperation(name: "first"))
          try await queue.untilAllOperationsAreFinished()
          let (second, third) = (BlockOperation(name: "second \(round)"), BlockOperation(name: "third \(round)"))
          third.addDependency(second)
          queue.addOperation(third)
          queue.addOperation(second)
          try await queue.untilAllOperationsAreFinished()
        }
      }
      let found = Self.operations(of: "trace later", in: recording)
      #expect(found.count == 150)
      for operation in found where operation.name.hasPrefix("third") {
        let names = operation.dependencies.map { recording.operations[$0].name }
        #expect(names == [operation.name.replacing("third", with: "second")])
      }
    }
  }

  @Test("Q19: a queue is never mistaken for an earlier one at the same address, even if events were lost")
  func queueIdentity() async {
    await #expect(processExitsWith: .success) {
      let recording = Trace.record(maxEventCountPerThread: 40) {
        for round in 0..<30 {
          let queue = OperationQueue(name: "trace queue \(round)")
          queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        }
      }
      let queues = recording.operations.compactMap(\.queue)
      #expect(recording.lostEventCount > 0)
      #expect(queues.count >= 10 && Set(queues).count == queues.count)
    }
  }

  @Test("Q19: a trace retains no operation that has ended")
  func release() async {
    await #expect(processExitsWith: .success) {
      final class Witness: Sendable {
        let count: Counter
        init(_ count: Counter) { self.count = count }
        deinit { count.increment() }
      }
      let (queue, freed) = (OperationQueue(), Counter())
      _ = try await Trace.record {
        for _ in 0..<10 {
          let witness = Witness(freed)
          queue.addOperation(BlockOperation { withExtendedLifetime(witness) {} })
        }
        try await queue.untilAllOperationsAreFinished()
        await until { freed.value == 10 }
      }
    }
  }

  @Test("Q19: events that do not fit into a thread's buffer are counted")
  func bounds() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue(name: "trace bounds")
      let recording = try await Trace.record(maxEventCountPerThread: 10) {
        for _ in 0..<100 { queue.addOperation {} }
        try await queue.untilAllOperationsAreFinished()
      }
      // One thread has added all operations.
      let added = Self.operations(of: "trace bounds", in: recording).filter { $0.addedTime != nil }
      #expect(added.count == 10 && recording.lostEventCount >= 90)
    }
  }

  @Test("Q19: traces can begin and end while operations run, and stopping a trace again returns an empty recording")
  func overAndOver() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let isOver = Atomic<Bool>(false)
      onThreads(2) { thread in
        if thread == 0 {
          for _ in 0..<50 {
            let trace = Trace.start()
            queue.addOperations([BlockOperation {}], waitUntilFinished: true)
            let recording = trace.stop()
            #expect(recording.operations.contains { $0.finishedTime != nil })
            #expect(trace.stop().operations.isEmpty)
          }
          isOver.store(true, ordering: .releasing)
        }
        while !isOver.load(ordering: .acquiring) {
          for _ in 0..<50 { queue.addOperation {} }
          queue.waitUntilAllOperationsAreFinished()
        }
      }
    }
  }

  @Test("Q19: a second trace, or a trace without capacity, is a programming error; releasing a trace ends it")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      let trace = Trace.start()
      withExtendedLifetime(trace) { _ = Trace.start() }
    }
    await #expect(processExitsWith: .failure) { _ = Trace.start(maxEventCountPerThread: 0) }
    await #expect(processExitsWith: .success) {
      _ = Trace.start()
      _ = Trace.start().stop()
    }
  }
}
