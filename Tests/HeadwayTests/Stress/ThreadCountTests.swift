import Dispatch
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Each runs in its own process, because all queues of a process share the pool.
@Suite("Thread count", .hangLimit) struct ThreadCountTests {
  #if os(Linux)
  @Test("T1, T3: busy operations run on about as many threads as there are processors") func busy() async throws {
    await #expect(processExitsWith: .success) {
      let before = processThreadCount()
      let (queue, crowd) = (OperationQueue(), AtomicCrowd())
      for _ in 0..<8 * ProcessorCount.usable {
        queue.addOperation { crowd.run { useProcessor(milliseconds: 20) } }
      }
      try await queue.untilAllOperationsAreFinished()
      #expect(crowd.most.load(ordering: .relaxed) <= ProcessorCount.usable + 1)
      // Workers, the monitor, and one that the testing library might have created in the meantime.
      #expect(processThreadCount() <= before + ProcessorCount.usable + 3)
    }
  }

  @Test("T4: an idle pool terminates its threads within seconds and uses no processor time") func idle() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let meeting = Meeting(of: 20)
      for _ in 0..<20 { queue.addOperation { meeting.attend() } }
      try await queue.untilAllOperationsAreFinished()
      let threads = processThreadCount()
      // The rule is about time: some seconds of this thread's own pauses. A loaded machine has more of them.
      #expect(eventually(patience: 60_000) { WorkerPool.shared.threadCount == 0 })
      #expect(eventually { processThreadCount() <= threads - 20 })
      #expect(eventually { usesNoProcessorTime() })
      // And it continues from there.
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    }
  }

  @Test("T4: a pool of sleeping threads uses no processor time") func sleeping() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      // This is repeated if the threads have ended in the meantime: on a slow machine, that can happen before this
      // thread checks.
      let sleeps = eventually {
        for _ in 0..<1_000 { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
        return usesNoProcessorTime() && WorkerPool.shared.threadCount > 0
      }
      #expect(sleeps)
    }
  }
  #endif

  @Test("T3: reaching the limit of threads is an event, and all operations finish when blocked ones return")
  func limit()
    async throws
  {
    await #expect(processExitsWith: .success) {
      OperationQueue.maxThreadCount = 4
      let queue = OperationQueue()
      let (told, end) = (Gate(), Gate())
      let token = queue.listen { event in
        if event == .threadLimitReached(limit: 4) { told.open() }
      }
      let crowd = Crowd()
      for _ in 0..<20 {
        queue.addOperation {
          crowd.enter()
          end.wait()
          crowd.leave()
        }
      }
      blockThread(until: told)
      #expect(eventually { crowd.now == 4 })
      #expect(WorkerPool.shared.state.withLock { $0.workers.count } == 4)
      end.open()
      try await queue.untilAllOperationsAreFinished()
      #expect(crowd.most == 4)
      token.invalidate()
    }
  }

  @Test("T3, K2: a listener that receives the event for the limit can wait for an operation of any class")
  func limitObserver()
    async throws
  {
    await #expect(processExitsWith: .success) {
      // One for the background operation, and one less than the number that blocked operations request from the pool
      // manager.
      OperationQueue.maxThreadCount = ProcessorCount.usable + 1
      let (queue, low) = (OperationQueue(), OperationQueue())
      low.qualityOfService = .background
      let (started, lowEnd, end) = (Gate(), Gate(), Gate())
      let lowOperation = BlockOperation {
        started.open()
        lowEnd.wait()
      }
      low.addOperation(lowOperation)
      blockThread(until: started)
      let token = queue.listen { event in
        guard case .threadLimitReached = event else { return }
        lowEnd.open()
        // It needs the pool manager to end.
        lowOperation.waitUntilFinished()
        end.open()
      }
      for _ in 0..<ProcessorCount.usable + 4 { queue.addOperation { end.wait() } }
      try await queue.untilAllOperationsAreFinished()
      #expect(lowOperation.isFinished)
      token.invalidate()
    }
  }

  @Test("T3, K2: a queue is notified when the limit is reached, even if other work was denied a thread before")
  func limitAfterBlock()
    async throws
  {
    await #expect(processExitsWith: .success) {
      OperationQueue.maxThreadCount = ProcessorCount.usable
      let (blocked, queue, end, told) = (OperationQueue(), OperationQueue(), Gate(), Gate())
      let begun = Counter()
      for _ in 0..<ProcessorCount.usable {
        blocked.addOperation {
          begun.increment()
          end.wait()
        }
      }
      await until { begun.value == ProcessorCount.usable }
      // Work of no queue, without any notification.
      WorkerPool.shared.submit(PoolBlock {}, count: 1)
      await until { ThreadLimit.isHungry(WorkerClass.normal.bit) }
      let token = queue.listen { event in
        if event == .threadLimitReached(limit: ProcessorCount.usable) { told.open() }
      }
      queue.addOperation {}
      await told.untilOpen()
      end.open()
      try await queue.untilAllOperationsAreFinished()
      try await blocked.untilAllOperationsAreFinished()
      token.invalidate()
    }
  }

  @Test("T3: a limit of no threads is a programming error") func noThreads() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      OperationQueue.maxThreadCount = 0
    }
    #expect(result.message.contains("maxThreadCount was set to 0: operations need at least one thread"))
  }
}

#if os(Linux)
/// Whether the process uses next to no processor time for a second.
///
/// The rule is about time, so the test lets time pass. Its assertion is the same on any machine: sooner or later, there
/// is such a second.
private func usesNoProcessorTime() -> Bool {
  let before = ProcessorTime.ofProcess
  for _ in 0..<10 { usleep(100_000) }
  return ProcessorTime.ofProcess - before < 20_000_000
}
#endif

extension WorkerPool {
  /// How many threads do its work, or can do it.
  fileprivate var threadCount: Int { state.withLock { $0.workers.count } }
}

/// Like `Crowd`, without a lock that a thread could block on.
private final class AtomicCrowd: Sendable {
  let now = Atomic<Int>(0)
  let most = Atomic<Int>(0)

  func run(_ body: () -> Void) {
    most.max(now.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    body()
    now.subtract(1, ordering: .relaxed)
  }
}
