import Dispatch
import Headway
import HeadwayTestKit
import Synchronization
import Testing

/// Each runs in its own process, where it has the pool to itself.
@Suite("Blocking", .hangLimit) struct BlockingTests {
  @Test("T2: 200 operations of one queue that block outside Headway overlap") func outside() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let meeting = Meeting(of: 200)
      for _ in 0..<200 { queue.addOperation { meeting.attend() } }
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("T2, W5: 200 operations of one queue that wait for an operation overlap") func inside() async throws {
    await #expect(processExitsWith: .success) {
      let (queue, other) = (OperationQueue(), OperationQueue())
      let last = BlockOperation {}
      let missing = Atomic<Int>(200)
      for _ in 0..<200 {
        queue.addOperation {
          if missing.subtract(1, ordering: .relaxed).newValue == 0 { other.addOperation(last) }
          last.waitUntilFinished()
        }
      }
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("T2: 64 operations that wait for semaphores do not prevent the 64 that signal them from running")
  func semaphores() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let semaphores = (0..<64).map { _ in DispatchSemaphore(value: 0) }
      for semaphore in semaphores { queue.addOperation { semaphore.wait() } }
      for semaphore in semaphores { queue.addOperation { semaphore.signal() } }
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test(
    "T2: operations that a thread has taken behind an operation that blocks run on other threads",
    arguments: [false, true])
  func behind(waitsForOperation: Bool) async throws {
    await #expect(processExitsWith: .success) { [waitsForOperation] in
      let queue = OperationQueue()
      for round in 0..<20 {
        queue.isSuspended = true
        // Quick ones first, so that threads take many at a time.
        for _ in 0..<300 + round * 7 { queue.addOperation {} }
        for _ in 0..<8 {
          let semaphore = DispatchSemaphore(value: 0)
          let later = BlockOperation { semaphore.signal() }
          queue.addOperation {
            if waitsForOperation { later.waitUntilFinished() } else { semaphore.wait() }
          }
          for _ in 0..<5 { queue.addOperation {} }
          queue.addOperation(later)
        }
        queue.isSuspended = false
        try await queue.untilAllOperationsAreFinished()
      }
    }
  }

  @Test("T2, D1: operations that became ready on a thread that then blocks run on other threads")
  func newlyReady() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      for round in 0..<20 {
        queue.isSuspended = true
        for _ in 0..<300 + round * 7 { queue.addOperation {} }
        for _ in 0..<8 {
          let semaphore = DispatchSemaphore(value: 0)
          let first = BlockOperation {}
          let signals = BlockOperation { semaphore.signal() }
          signals.addDependency(first)
          queue.addOperations([first, BlockOperation { semaphore.wait() }, signals], waitUntilFinished: false)
        }
        queue.isSuspended = false
        try await queue.untilAllOperationsAreFinished()
      }
    }
  }
}
