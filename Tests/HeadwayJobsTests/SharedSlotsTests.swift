import Headway
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// How the workers of a process share the slots of an operation queue.
@Suite struct SharedSlotsTests {
  private final class Worker {}

  private let slots = SharedSlots()
  private let queue = OperationQueue()
  private let first = Worker()
  private let second = Worker()

  /// Returns the slots that the other worker uses, and notes the slots that the worker uses from now on.
  private func change(
    _ worker: Worker, from before: Int, to count: Int, isWaiting: Bool = false, operationCount: Int = 0
  ) -> SharedSlots.Use? {
    let queue = SharedSlots.Queue(queue: queue, limit: 1, operationCount: operationCount)
    return slots.change([queue], from: [SharedSlots.Use(heldCount: before)], by: worker) { others in
      ([SharedSlots.Use(heldCount: others[0] == nil ? before : count, isWaiting: isWaiting)], others[0])
    }
  }

  @Test("J22: workers that share an operation queue take the slots of the other workers into account, and take turns")
  func turns() throws {
    slots.join([queue], first, Doorbell())
    #expect(change(first, from: 0, to: 1)?.workerCount == 0)
    slots.join([queue], second, Doorbell())
    #expect(change(second, from: 0, to: 0, isWaiting: true)?.heldCount == 1)
    // A worker that has no free slot keeps its turn.
    #expect(change(first, from: 1, to: 1) != nil)
    // The worker does not yield a slot that another operation uses, either.
    #expect(change(first, from: 0, to: 0, operationCount: 1) != nil)
    #expect(change(first, from: 0, to: 1) == nil)
    let use = try #require(change(second, from: 0, to: 1))
    #expect([use.heldCount, use.workerCount] == [0, 1])
    #expect(change(first, from: 0, to: 0, isWaiting: true)?.heldCount == 1)
    #expect(change(second, from: 0, to: 1) == nil)
    // If the other worker does not use its turn, the slot is available at the next attempt.
    #expect(change(second, from: 0, to: 1)?.heldCount == 0)
    slots.leave([queue], first)
    #expect(change(second, from: 0, to: 1)?.workerCount == 0)
  }

  @Test("J22, J199: workers that might find jobs do not pass a turn back and forth")
  func noEndlessTurns() {
    for worker in [first, second] { slots.join([queue], worker, Doorbell()) }
    // Both have waited for a slot that the first worker used.
    #expect(change(first, from: 0, to: 1) != nil)
    #expect(change(second, from: 0, to: 0, isWaiting: true) != nil)
    #expect(change(first, from: 1, to: 1) != nil)
    #expect(change(first, from: 0, to: 1, isWaiting: true) == nil)
    // The second worker can claim jobs, although the first one still waits.
    #expect(change(second, from: 0, to: 0) != nil)
    #expect(change(first, from: 0, to: 1) != nil)
  }
}
