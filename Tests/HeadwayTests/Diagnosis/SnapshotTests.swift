import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Snapshots", .hangLimit) struct SnapshotTests {
  @Test("Q18: a snapshot shows the queue's settings, and what each operation does or waits for")
  func contents() async throws {
    let (queue, started, end) = (OperationQueue(name: "import", maxConcurrentOperationCount: 1), Gate(), Gate())
    let parse = BlockOperation(name: "parse") {
      started.open()
      end.wait()
    }
    let save = BlockOperation(name: "save")
    save.addDependency(parse)
    let unnamed = BlockOperation {}
    queue.addOperations([parse, save, unnamed], waitUntilFinished: false)
    await started.untilOpen()
    parse.progress.totalUnitCount = 4
    parse.progress.completedUnitCount = 3
    let snapshot = queue.snapshot()
    #expect(snapshot.name == "import" && snapshot.maxConcurrentOperationCount == 1)
    #expect(snapshot.operationCount == 3 && snapshot.occupiedSlotCount == 1)
    #expect(!snapshot.isSuspended && !snapshot.isClosed)
    #expect(snapshot.operations.map(\.name) == ["parse", "save", nil])
    #expect(snapshot.operations.map(\.state) == [.executing, .pending, .ready])
    #expect(snapshot.operations.map(\.fractionCompleted) == [0.75, nil, nil])
    #expect(snapshot.operations.map(\.diagnosis) == [parse, save, unnamed].map(\.diagnosis))
    #expect(snapshot.operations.allSatisfy { $0.type == "BlockOperation" && $0.attempt == nil && !$0.isCancelled })
    queue.isSuspended = true
    save.cancel()
    queue.close()
    let later = queue.snapshot(maxOperationCount: 1)
    #expect(later.isSuspended && later.isClosed && later.operations.map(\.name) == ["parse"])
    #expect(queue.snapshot(maxOperationCount: 0).operations.isEmpty)
    end.open()
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.snapshot().operationCount == 0)
  }

  @Test("Q18, X2: a snapshot shows the number of the attempt")
  func attempts() async throws {
    let (queue, clock) = (OperationQueue(), ManualClock())
    queue.clock = clock
    let task = queue.addTask("upload", .retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) { attempt in
      if attempt == 1 { throw Mishap() }
    }
    await clock.waitForSleepers(count: 1)
    let snapshot = queue.snapshot().operations
    #expect(snapshot.map(\.attempt) == [1])
    #expect(snapshot.map(\.diagnosis) == ["“upload” waits for its next attempt, for another 1.0 seconds"])
    clock.advance(by: .seconds(1))
    try await task.value
  }

  @Test("Q18: a snapshot shows which operation each thread runs, in a batch, separately, and in a task")
  func threads() async throws {
    let queue = OperationQueue(name: "snapshot threads")
    let (begun, end) = ([Gate(), Gate(), Gate()], Gate())
    queue.addOperation(
      BlockOperation(name: "in a batch") {
        begun[0].open()
        end.wait()
      })
    let observed = BlockOperation(name: "separately") {
      begun[1].open()
      end.wait()
    }
    let token = observed.observe(\.isExecuting) { _, _ in }
    queue.addOperation(observed)
    let task = queue.addTask("in a task") {
      await Task.yield()
      begun[2].open()
      blockThread(until: end)
    }
    for gate in begun { await gate.untilOpen() }
    let snapshot = OperationQueue.snapshotAll()
    let position = try #require(snapshot.queues.firstIndex { $0.name == "snapshot threads" })
    let operations = snapshot.threads.filter { $0.queue == position }.compactMap(\.operation)
    #expect(operations.sorted() == [0, 1, 2])
    let names = snapshot.queues[position].operations.map(\.name)
    #expect(names == ["in a batch", "separately", "in a task"])
    #expect(snapshot.description.contains(" on “separately” of queue “snapshot threads”"))
    end.open()
    try await task.value
    try await queue.untilAllOperationsAreFinished()
    withExtendedLifetime(token) {}
    let later = OperationQueue.snapshotAll()
    let laterPosition = later.queues.firstIndex { $0.name == "snapshot threads" }
    #expect(!later.threads.contains { $0.queue == laterPosition && $0.operation != nil })
  }

  @Test("Q18: after recordTimes(), a snapshot shows how long ago operations were added and started")
  func times() async throws {
    let (queue, begun, end) = (OperationQueue(maxConcurrentOperationCount: 1), Gate(), Gate())
    queue.addOperation(
      BlockOperation(name: "before") {
        begun.open()
        end.wait()
      })
    await begun.untilOpen()
    queue.recordTimes()
    queue.recordTimes()
    let (running, begunLater, endLater) = (BlockOperation(name: "running"), Gate(), Gate())
    running.addExecutionBlock {
      begunLater.open()
      endLater.wait()
    }
    queue.addOperation(running)
    queue.addOperation(BlockOperation(name: "waiting"))
    let before = queue.snapshot().operations
    #expect(before.map { $0.timeSinceAdded == nil } == [true, false, false])
    #expect(before.allSatisfy { $0.timeSinceStarted == nil })
    end.open()
    await begunLater.untilOpen()
    let (later, waiting) = (queue.snapshot().operations[0], queue.snapshot().operations[1])
    #expect(try #require(later.timeSinceAdded) > #require(before[1].timeSinceAdded))
    #expect(try #require(later.timeSinceStarted) < #require(later.timeSinceAdded))
    #expect(later.description.hasSuffix("s ago, started \(later.timeSinceStarted!.inMilliseconds) ago"))
    #expect(waiting.timeSinceStarted == nil)
    endLater.open()
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("Q18: a negative number of operations is a programming error")
  func negative() async {
    await #expect(processExitsWith: .failure) { _ = OperationQueue().snapshot(maxOperationCount: -1) }
  }

  @Test("Q18: operations that stay in the queue are included once, in order, while other operations come and go")
  func slices() {
    let (queue, never) = (OperationQueue(), BlockOperation {})
    let count = 3 * MemberSlices.size
    let lasting = (0..<count).map { number in
      let operation = BlockOperation {}
      operation.addDependency(never)
      return operation
    }
    let isOver = Atomic<Bool>(false)
    for operation in lasting { queue.addOperation(operation) }
    let numbers = Dictionary(uniqueKeysWithValues: lasting.enumerated().map { (ObjectIdentifier($1), $0) })
    onThreads(3) { thread in
      if thread == 0 {
        for _ in 0..<20 {
          let found = queue.firstOperations(atMost: .max).compactMap { numbers[ObjectIdentifier($0)] }
          #expect(found == Array(0..<count))
        }
        isOver.store(true, ordering: .releasing)
      }
      while !isOver.load(ordering: .acquiring) {
        let short = (0..<100).map { _ in BlockOperation {} }
        queue.addOperations(short, waitUntilFinished: true)
      }
    }
    queue.addOperation(never)
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q18: a snapshot continues at the right operation even if all operations that it has read have left")
  func resumes() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operations = (0..<40).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: false)
    var slices = MemberSlices()
    func collect(_ count: Int) -> Bool { queue.update { slices.appendNext(from: $0.admission.members, atMost: count) } }
    #expect(!collect(10))
    for operation in operations[..<10] { operation.cancel() }
    for operation in operations[..<10] { operation.waitUntilFinished() }
    #expect(!collect(10) && !collect(5) && collect(20))
    let found = slices.sorted(atMost: .max)
    #expect(found.map { ObjectIdentifier($0) } == operations.map { ObjectIdentifier($0) })
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q18: operations of a batch, and operations that another thread has put back, are included in their order")
  func returned() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operations = (0..<20).map { _ in BlockOperation {} }
    for operation in operations { queue.addOperation(operation) }
    func found() -> [Int?] {
      queue.firstOperations(atMost: .max).map { found in operations.firstIndex { $0 === found } }
    }
    executor.runBatch(of: queue) {
      #expect(found() == Array(0..<20))
      queue.isSuspended = true
      queue.addOperation {}
      #expect(found() == Array(0..<20) + [nil])
      #expect(queue.firstOperations(atMost: 3).count == 3)
    }
    queue.isSuspended = false
    executor.runSteps()
    #expect(found().isEmpty)
  }

  @Test("Q18: all queues of the process are included, in order of creation, except freed queues")
  func allQueues() async {
    let names = (0..<3).map { "all queues \($0)" }
    let queues = names.map { OperationQueue(name: $0) }
    func found() -> [String] {
      OperationQueue.snapshotAll().queues.compactMap(\.name).filter { $0.hasPrefix("all queues") }
    }
    do {
      let freed = OperationQueue(name: "all queues, freed")
      withExtendedLifetime(freed) { #expect(found() == names + ["all queues, freed"]) }
    }
    // Another test's snapshot can hold it for a moment.
    await until { OperationQueue.snapshotAll().queues.allSatisfy { $0.name != "all queues, freed" } }
    withExtendedLifetime(queues) {}
  }

  @Test("Q18, Q11: queues can be created and freed during snapshots of all queues")
  func creation() {
    let isOver = Atomic<Bool>(false)
    onThreads(3) { thread in
      if thread == 0 {
        for _ in 0..<200 { _ = OperationQueue.snapshotAll(maxOperationCount: 10) }
        isOver.store(true, ordering: .releasing)
      }
      while !isOver.load(ordering: .acquiring) {
        let queues = (0..<20).map { _ in OperationQueue() }
        queues[0].addOperation {}
        queues[0].waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("Q18: the dump names the queue, the obstacle of each operation, and the threads")
  func dump() async throws {
    let (queue, started, end) = (OperationQueue(name: "dump", maxConcurrentOperationCount: 1), Gate(), Gate())
    queue.addOperation(
      BlockOperation(name: "first") {
        started.open()
        end.wait()
      })
    for _ in 0..<101 { queue.addOperation(BlockOperation(name: "later")) }
    await started.untilOpen()
    let dump = OperationQueue.snapshotAll(maxOperationCount: 100).description
    let lines = dump.split(separator: "\n").map(String.init)
    let position = try #require(lines.firstIndex(of: "queue “dump” (102 operations, 1 of 1 slots in use)"))
    #expect(lines[position + 1] == "  “first” is executing")
    #expect(lines[position + 2].hasPrefix("  “later” waits for "))
    #expect(lines[position + 101] == "  … 2 other operations")
    #expect(lines.contains { $0.hasPrefix("thread headway-") && $0.hasSuffix(" on “first” of queue “dump”") })
    end.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(!OperationQueue.snapshotAll().description.contains("queue “dump”"))
  }

  private static let dumpOfSignals =
    "queue “signals” (1 operation, suspended)\n  BlockOperation is suspended in queue “signals”\n"

  @Test("Q18: a signal prints the dump to standard error, each time, and the process continues")
  func signals() async {
    await #expect(processExitsWith: .success) {
      OperationQueue.dumpOnSignal(SIGQUIT)
      OperationQueue.dumpOnSignal(SIGQUIT)
      let queue = OperationQueue(name: "signals")
      queue.isSuspended = true
      queue.addOperation {}
      var pipes: [Int32] = [0, 0]
      let (made, redirected) = (pipe(&pipes), dup2(pipes[1], STDERR_FILENO))
      #expect(made == 0 && redirected == STDERR_FILENO)
      for _ in 0..<2 {
        kill(getpid(), SIGQUIT)
        // Another thread prints the dump, after the signal. If it prints something else, this waits forever.
        var (text, buffer) = ("", [UInt8](repeating: 0, count: 4_096))
        while !text.contains(Self.dumpOfSignals) {
          let count = read(pipes[0], &buffer, buffer.count)
          text += String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
      }
    }
  }
}
