#if os(Linux)
import Glibc
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The properties of the pool's threads.
///
/// Tests in their own process have the pool to themselves.
@Suite("Worker threads", .hangLimit) struct WorkerThreadTests {
  @Test("P3: an urgent operation in a background queue whose workers are occupied runs on a normal thread")
  func urgentInBackgroundQueue() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      queue.qualityOfService = .background
      let isOver = Atomic<Bool>(false)
      // More than there are processors, and none of them blocks.
      let busy = Meeting(of: ProcessorCount.usable + 1)
      for number in 0..<2 * ProcessorCount.usable {
        queue.addOperation {
          if number < ProcessorCount.usable { busy.attend() }
          while !isOver.load(ordering: .acquiring) {}
        }
      }
      busy.attend()
      let nices = EventRecorder<Int32>()
      let urgent = BlockOperation { nices.record(currentNiceValue()) }
      urgent.qualityOfService = .userInteractive
      urgent.queuePriority = .veryHigh
      // This hangs if it waits for those.
      queue.addOperations([urgent], waitUntilFinished: true)
      isOver.store(true, ordering: .releasing)
      #expect(nices.events == [processNiceValue()])
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test(
    "P3, T3: a normal thread that a background thread creates, or that replaces one, has its own class's nice value",
    arguments: [true, false])
  func madeByLowThread(isInItsPlace: Bool) async throws {
    await #expect(processExitsWith: .success) { [isInItsPlace] in
      // With privileges, the thread could lower its value itself.
      dropPrivileges()
      let (queue, low) = (OperationQueue(), OperationQueue())
      low.qualityOfService = .background
      let nices = EventRecorder<Int32>()
      let operation = BlockOperation { nices.record(currentNiceValue()) }
      if isInItsPlace {
        OperationQueue.maxThreadCount = 1
        let end = low.occupy()
        queue.addOperation(operation)
        end.open()
      } else {
        low.addOperation { queue.addOperation(operation) }
      }
      try await low.untilAllOperationsAreFinished()
      try await queue.untilAllOperationsAreFinished()
      #expect(nices.events == [processNiceValue()])
    }
  }

  @Test("P3: work that a thread with a raised nice value adds runs at its own nice value")
  func addedByNicedThread() async throws {
    await #expect(processExitsWith: .success) {
      guard mayLowerNiceValue() else { return }
      let nices = EventRecorder<Int32>()
      onThreads(1) { _ in
        setCurrentNiceValue(processNiceValue() + 5)
        let queue = OperationQueue()
        for quality in [QualityOfService.default, .utility] {
          let operation = BlockOperation {
            nices.record(currentNiceValue())
            nices.record(Guarded(0).withLock { _ in currentNiceValue() })
          }
          operation.qualityOfService = quality
          queue.addOperations([operation], waitUntilFinished: true)
        }
      }
      let value = processNiceValue()
      #expect(nices.events == [value, value, value + 10, value])
    }
  }

  @Test("P3, T4: a thread that can't lower its nice value without privilege ends instead of sleeping")
  func keepsNiceValue() async throws {
    await #expect(processExitsWith: .success) {
      dropPrivileges()
      guard !mayLowerNiceValue() else { return }
      let nices = EventRecorder<Int32>()
      @Sendable func run() {
        let operation = BlockOperation { nices.record(currentNiceValue()) }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
      }
      onThreads(1) { _ in
        setCurrentNiceValue(processNiceValue() + 5)
        run()
      }
      let isIdle = eventually {
        WorkerPool.shared.state.withLock { $0.workers.isEmpty || !$0.sleeping.isEmpty }
      }
      #expect(isIdle && WorkerPool.shared.state.withLock { $0.workers.isEmpty })
      run()
      #expect(nices.events == [processNiceValue() + 5, processNiceValue()])
    }
  }

  @Test(
    "P3, W1: a completion block runs on a thread of its operation's class",
    arguments: [(.default, 0), (.utility, 10), (.background, 19)] as [(QualityOfService, Int32)])
  func completionBlock(quality: QualityOfService, nice: Int32) {
    let nices = EventRecorder<Int32>()
    let isOver = Gate()
    let queue = OperationQueue()
    queue.qualityOfService = quality
    let operation = BlockOperation {}
    operation.completionBlock = {
      nices.record(currentNiceValue())
      isOver.open()
    }
    queue.addOperation(operation)
    isOver.wait()
    #expect(nices.events == [processNiceValue() + nice])
  }

  @Test(
    "T1: pool threads receive no signals that a program handles", arguments: [QualityOfService.default, .background])
  func signals(quality: QualityOfService) {
    let masks = EventRecorder<[Bool]>()
    let queue = OperationQueue()
    queue.qualityOfService = quality
    let asked = [
      SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGWINCH, SIGSEGV, SIGILL, SIGFPE, SIGBUS,
    ]
    let operation = BlockOperation {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      masks.record(asked.map { sigismember(&mask, $0) == 1 })
    }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(masks.events == [Array(repeating: true, count: 8) + Array(repeating: false, count: 4)])
  }

  @Test("T1: the thread that creates a pool thread keeps its own signal mask") func maskOfMaker() {
    var (before, after) = (sigset_t(), sigset_t())
    pthread_sigmask(SIG_BLOCK, nil, &before)
    let meeting = Meeting(of: 4)
    let queue = OperationQueue()
    for _ in 0..<4 { queue.addOperation { meeting.attend() } }
    queue.waitUntilAllOperationsAreFinished()
    pthread_sigmask(SIG_BLOCK, nil, &after)
    for signal in 1..<32 { #expect(sigismember(&before, Int32(signal)) == sigismember(&after, Int32(signal))) }
  }

  @Test(
    "T1: pool threads have names",
    arguments: [(.default, "headway-"), (.utility, "headway-low-")]
      as [(QualityOfService, String)])
  func names(quality: QualityOfService, prefix: String) {
    let names = EventRecorder<String>()
    let queue = OperationQueue()
    queue.qualityOfService = quality
    let operation = BlockOperation { names.record(SmallFile.text(at: "/proc/thread-self/comm") ?? "") }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(names.events.first?.hasPrefix(prefix) == true)
    #expect(names.events.first?.hasPrefix("headway-low-") == (quality == .utility))
  }

  @Test("T5: a destructor of thread-specific data can wait on a thread that ends") func threadSpecificData() async {
    await #expect(processExitsWith: .success) {
      // One thread at a time, so that work of another class ends it.
      OperationQueue.maxThreadCount = 1
      var key = pthread_key_t()
      #expect(pthread_key_create(&key, Destructor.run) == 0)
      let (queue, low) = (OperationQueue(), OperationQueue())
      low.qualityOfService = .utility
      for _ in 0..<3 {
        let set = BlockOperation { [key] in _ = pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
        queue.addOperations([set], waitUntilFinished: true)
        low.addOperations([BlockOperation {}], waitUntilFinished: true)
      }
      #expect(eventually { Destructor.calls.load(ordering: .acquiring) == 3 })
    }
  }
}

private enum Destructor {
  static let calls = Atomic<Int>(0)

  static let run: @convention(c) (UnsafeMutableRawPointer?) -> Void = { _ in
    // A log buffer, for instance, that is written out through a queue.
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    calls.add(1, ordering: .releasing)
  }
}
#endif
