import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Pool", .hangLimit) struct PoolTests {
  // This runs in its own process: it uses all the threads that the pool has for blocked work.
  @Test("T2: 64 operations that block overlap") func manyBlocked() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let meeting = Meeting(of: 64)
      for _ in 0..<64 { queue.addOperation { meeting.attend() } }
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("T2: 64 operations that block in 64 queues overlap, twice") func manyQueues() async throws {
    await #expect(processExitsWith: .success) {
      for _ in 0..<2 {
        let meeting = Meeting(of: 64)
        let queues = (0..<64).map { _ in OperationQueue(limit: 1) }
        for queue in queues { queue.addOperation { meeting.attend() } }
        for queue in queues { try await queue.untilAllOperationsAreFinished() }
      }
    }
  }

  @Test("T2: five long-running tasks overlap, item by item") func fiveTasks() {
    let queue = OperationQueue()
    let items = (0..<10).map { _ in Meeting(of: 5) }
    for _ in 0..<5 {
      queue.addOperation { for item in items { item.attend() } }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  // This runs in its own process, where only these workers exist.
  @Test("T3: a worker that waits for the lock of its queue is not replaced, unlike one that is blocked in an operation")
  func waitingForLock() async {
    await #expect(processExitsWith: .success) {
      let (queue, other) = (OperationQueue(), OperationQueue())
      let (begun, goesOn, locked, unlocks, end) = (Gate(), Gate(), Gate(), Gate(), Gate())
      queue.addOperation {
        begun.open()
        goesOn.wait()
      }
      await begun.untilOpen()
      let holder = startThread(named: "holder") {
        queue.state.withLock { _ in
          locked.open()
          unlocks.wait()
        }
      }
      #expect(holder == 0)
      await locked.untilOpen()
      goesOn.open()
      func statuses(waiting: Bool) -> [Worker.Status] {
        WorkerPool.shared.state.withLock { state in
          state.workers.filter { $0.waitsForLock.load(ordering: .relaxed) == waiting }.map(\.status)
        }
      }
      await until { !statuses(waiting: true).isEmpty }
      // Work waits, so the pool manager judges the workers again and again.
      for _ in 0..<8 { other.addOperation { end.wait() } }
      await until { statuses(waiting: false).count { $0 == .foundBlocked } >= 6 }
      #expect(statuses(waiting: true) == [.working])
      unlocks.open()
      end.open()
      try await queue.untilAllOperationsAreFinished()
      try await other.untilAllOperationsAreFinished()
    }
  }

  @Test(
    "T2: operations that never block in one queue do not prevent another queue's operations from running")
  func busyNeighbour() {
    let (busy, other) = (OperationQueue(), OperationQueue())
    let isOver = Atomic<Bool>(false)
    for _ in 0..<8 {
      busy.addOperation { while !isOver.load(ordering: .acquiring) {} }
    }
    other.addOperation { isOver.store(true, ordering: .releasing) }
    other.waitUntilAllOperationsAreFinished()
    busy.waitUntilAllOperationsAreFinished()
  }

  // This runs in its own process, where nothing else runs.
  @Test(
    "T2: busy operations do not prevent another queue's operations from running while an operation is blocked, either"
  )
  func busyBesideBlocked() async {
    await #expect(processExitsWith: .success) {
      let (busy, other) = (OperationQueue(), OperationQueue())
      let (end, spinning) = (Gate(), Spinning())
      // When it blocks, another worker spins instead.
      busy.addOperation {
        spinning.waitUntilBegun(ProcessorCount.usable - 1)
        end.wait()
      }
      spinning.add(8 * ProcessorCount.usable, to: busy)
      spinning.waitUntilBegun(ProcessorCount.usable)
      other.addOperation { spinning.end() }
      try await other.untilAllOperationsAreFinished()
      end.open()
      try await busy.untilAllOperationsAreFinished()
    }
  }

  // This runs in its own process, where nothing else runs.
  @Test(
    "T2: even if more queues than processors are busy, a queue that one of them waits for runs its operations"
  )
  func busyForAnother() async {
    await #expect(processExitsWith: .success) {
      let (busy, last, spinning) = ((0..<4).map { _ in OperationQueue() }, OperationQueue(), Spinning())
      spinning.add(ProcessorCount.usable, to: busy[0])
      // Otherwise, other work might arrive first, and a worker that helps out would not run the rest of this work.
      spinning.waitUntilBegun(ProcessorCount.usable)
      for queue in busy[1...] { spinning.add(1, to: queue) }
      spinning.waitUntilBegun(ProcessorCount.usable + busy.count - 1)
      last.addOperation { spinning.end() }
      for queue in busy + [last] { try await queue.untilAllOperationsAreFinished() }
    }
  }

  // This runs in its own process, where nothing else runs.
  @Test("T2, T3: the next step of a task counts as its queue's work, and does not keep out other queues' work")
  func busyParts() async {
    await #expect(processExitsWith: .success) {
      let (busy, other, spinning) = (OperationQueue(), OperationQueue(), Spinning())
      for _ in 0..<8 * ProcessorCount.usable {
        busy.addTask {
          await Task.yield()
          spinning.spin()
        }
      }
      spinning.waitUntilBegun(ProcessorCount.usable)
      other.addOperation { spinning.end() }
      try await other.untilAllOperationsAreFinished()
      try await busy.untilAllOperationsAreFinished()
    }
  }

  // This runs in its own process, where nothing else runs.
  @Test("T2: busy queues do not prevent another queue from running its operations while its only thread is blocked")
  func busyBesideBlockedOfSameQueue() async {
    await #expect(processExitsWith: .success) {
      let (busy, other) = (OperationQueue(), OperationQueue())
      let (begun, end, spinning) = (Gate(), Gate(), Spinning())
      other.addOperation {
        begun.open()
        end.wait()
      }
      await begun.untilOpen()
      spinning.add(ProcessorCount.usable, to: busy)
      spinning.waitUntilBegun(ProcessorCount.usable)
      other.addOperation { spinning.end() }
      try await busy.untilAllOperationsAreFinished()
      end.open()
      try await other.untilAllOperationsAreFinished()
    }
  }

  @Test(
    "T2: an endless stream of short operations in one queue does not prevent another queue's operations from running")
  func stream() {
    let (busy, other) = (OperationQueue(), OperationQueue())
    let isOver = Atomic<Bool>(false)
    @Sendable func goOn() {
      if !isOver.load(ordering: .acquiring) { busy.addOperation { goOn() } }
    }
    for _ in 0..<8 { busy.addOperation { goOn() } }
    other.addOperation { isOver.store(true, ordering: .releasing) }
    other.waitUntilAllOperationsAreFinished()
    busy.waitUntilAllOperationsAreFinished()
  }

  @Test("T2: an operation that waits gives its place to the operation that it waits for")
  func placeGivenUp() async throws {
    // As many as the pool runs at the same time if none blocks in a way that it can detect, and more.
    await #expect(processExitsWith: .success) {
      let (outer, inner) = (OperationQueue(), OperationQueue())
      for _ in 0..<100 {
        outer.addOperation { inner.addOperations([BlockOperation {}], waitUntilFinished: true) }
      }
      try await outer.untilAllOperationsAreFinished()
    }
  }
}

/// Operations that compute until the test ends them.
private final class Spinning: Sendable {
  private let begun = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)

  func add(_ count: Int, to queue: OperationQueue) {
    for _ in 0..<count { queue.addOperation { self.spin() } }
  }

  func spin() {
    begun.add(1, ordering: .acquiringAndReleasing)
    while !isOver.load(ordering: .acquiring) {}
  }

  func waitUntilBegun(_ count: Int) { while begun.load(ordering: .acquiring) < count {} }

  func end() { isOver.store(true, ordering: .releasing) }
}
