#if os(Linux)
import Glibc
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The pool's behavior if threads, or files, are unavailable.
///
/// Each runs in its own process; failures hang.
@Suite("Recovery of the pool", .hangLimit) struct PoolRecoveryTests {
  @Test("T1, T2: a thread that can't be created for a moment is created later") func refusedThread() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let (entered, goOn, waits) = (Gate(), Gate(), Gate())
      let second = BlockOperation {}
      let first = BlockOperation {
        entered.open()
        goOn.wait()
        waits.open()
        second.waitUntilFinished()
      }
      queue.addOperation(first)
      blockThread(until: entered)
      withoutThreads {
        // The system denies another thread, now and when the first operation waits.
        queue.addOperation(second)
        goOn.open()
        waits.wait()
        let isBlocked = eventually { WorkerPool.shared.state.withLock { $0.blocked == 1 } }
        #expect(isBlocked && !second.isFinished)
      }
      try await queue.untilAllOperationsAreFinished()
      #expect(second.isFinished)
    }
  }

  @Test(
    "T1: failing to create the first thread of a class, or of all classes, does not terminate the process",
    arguments: [false, true])
  func refusedFirstThread(isLow: Bool) async throws {
    await #expect(processExitsWith: .success) { [isLow] in
      let queue = OperationQueue()
      if isLow { queue.qualityOfService = .utility }
      // A thread of another class, which these threads can't replace.
      if isLow { OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true) }
      let operation = BlockOperation {}
      withoutThreads { queue.addOperation(operation) }
      block(until: operation)
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("T3: idle threads of one class do not prevent another class from getting a thread", arguments: [1, 2])
  func threadLimit(limit: Int) async throws {
    await #expect(processExitsWith: .success) { [limit] in
      OperationQueue.maxThreadCount = limit
      let (queue, low) = (OperationQueue(), OperationQueue())
      low.qualityOfService = .utility
      let meeting = Meeting(of: limit)
      for _ in 0..<limit { queue.addOperation { meeting.attend() } }
      try await queue.untilAllOperationsAreFinished()
      let hasRun = Atomic<Bool>(false)
      low.addOperation { hasRun.store(true, ordering: .releasing) }
      // Work of the other class continues to arrive, so its threads are never idle for a long time.
      while !hasRun.load(ordering: .acquiring) {
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      }
      // And back, alternately.
      for _ in 0..<20 {
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        low.addOperations([BlockOperation {}], waitUntilFinished: true)
      }
      try await low.untilAllOperationsAreFinished()
    }
  }

  @Test(
    "P3, T3: urgent work does not wait for the backlog of another class that has all threads", arguments: [1, 2, 5])
  func backlog(limit: Int) async throws {
    await #expect(processExitsWith: .success) { [limit] in
      OperationQueue.maxThreadCount = limit
      let (low, lower, urgent) = (OperationQueue(), OperationQueue(), OperationQueue())
      low.qualityOfService = .utility
      lower.qualityOfService = .background
      urgent.qualityOfService = .userInteractive
      let isOver = Atomic<Bool>(false)
      @Sendable func goOn() {
        if !isOver.load(ordering: .relaxed) { low.addOperation { goOn() } }
      }
      let started = Meeting(of: min(limit, ProcessorCount.usable) + 1)
      for number in 0..<limit + 8 {
        low.addOperation {
          if number < min(limit, ProcessorCount.usable) { started.attend() }
          goOn()
        }
      }
      started.attend()
      // The backlog never ends; each of these is denied a thread, and hangs if none is released.
      for _ in 0..<5 { urgent.addOperations([BlockOperation {}], waitUntilFinished: true) }
      isOver.store(true, ordering: .relaxed)
      try await low.untilAllOperationsAreFinished()
      // Work that had to wait runs now.
      lower.addOperations([BlockOperation {}], waitUntilFinished: true)
    }
  }

  @Test("P3, T3: a class keeps a thread while more urgent classes have threads, which can wait for its work")
  func lastThread() async throws {
    await #expect(processExitsWith: .success) {
      OperationQueue.maxThreadCount = 2
      // A second thread of the low queue could run the work that the urgent operations must wait for.
      let (low, urgent) = (OperationQueue(limit: 1), OperationQueue())
      low.qualityOfService = .background
      let end = low.occupy()
      let awaited = (0..<4).map { _ in BlockOperation {} }
      low.addOperations(awaited, waitUntilFinished: false)
      let waiting = Gate()
      for operation in awaited {
        urgent.addOperation {
          waiting.open()
          operation.waitUntilFinished()
        }
      }
      blockThread(until: waiting)
      // One waits, and the next is denied a thread: if it had the other classes' last thread, nothing could continue.
      #expect(eventually { ThreadLimit.isHungry(WorkerClass.normal.bit) })
      end.open()
      try await urgent.untilAllOperationsAreFinished()
      try await low.untilAllOperationsAreFinished()
    }
  }

  @Test("T2: blocked operations are found even if no file can be opened") func noDescriptors() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var descriptors: [Int32] = []
      while case let descriptor = dup(STDERR_FILENO), descriptor >= 0 { descriptors.append(descriptor) }
      #expect(SmallFile.text(at: "/proc/self/stat") == nil)
      let meeting = Meeting(of: 4 * ProcessorCount.usable)
      for _ in 0..<4 * ProcessorCount.usable { queue.addOperation { meeting.attend() } }
      try await queue.untilAllOperationsAreFinished()
      // Reporting the outcome requires some.
      for descriptor in descriptors { close(descriptor) }
    }
  }
}

/// Runs `body` while no thread can be created, because there is no address space for its stack.
private func withoutThreads(_ body: () -> Void) {
  var old = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &old)
  var none = rlimit(rlim_cur: 1 << 20, rlim_max: old.rlim_max)
  setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &none)
  body()
  setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &old)
}
#endif

/// Blocks the thread, which therefore tries again to create the missing threads.
private func block(until operation: Headway.Operation) { operation.waitUntilFinished() }
