import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Coalescing table", HangLimit()) struct CoalescingTableTests {
  private let keys = CoalescingKeys()

  private func work(_ key: String = "a") -> CoalescedWork { CoalescedWork(key, in: keys, type: Int.self) }

  private func register(
    _ work: CoalescedWork, _ operation: Operation = BlockOperation {}, _ coalescing: CoalescingPolicy = .joinWaiting
  ) -> CoalescingTable.Entry { keys.table.withLock { $0.register(work, operation, coalescing) } }

  private func joined(_ coalescing: CoalescingPolicy = .joinWaiting) -> CoalescedWork? {
    guard case .joined(let work, _)? = keys.table.withLock({ $0.join("a", coalescing, type: Int.self) }) else {
      return nil
    }
    return work
  }

  @Test("X5: if another thread registers an operation first, the call joins that operation") func registeredTwice() {
    let (first, second) = (work(), work())
    _ = register(first)
    guard case .joined(let joined, _) = register(second) else {
      Issue.record("two operations wait")
      return
    }
    #expect(joined === first && keys.table.withLock { $0.count } == 1)
    _ = keys.table.withLock { $0.end(first) }
  }

  @Test("X5: after its last caller has lost interest, no call joins an operation, even before it is cancelled")
  func unwanted() {
    let (first, second, operation) = (work(), work(), BlockOperation {})
    _ = register(first, operation)
    #expect(joined() === first)
    #expect(keys.table.withLock { _ in first.leave() } == false)
    #expect(keys.table.withLock { _ in first.leave() } == true)
    #expect(!operation.isCancelled && joined(.joinUnfinished) == nil)
    guard case .added(_, let after) = register(second, BlockOperation {}, .joinUnfinished) else {
      Issue.record("the second operation is not added")
      return
    }
    #expect(after == [operation])
    keys.removeAll()
  }

  @Test("X5: the end of an operation does not remove the entry of the next operation with the same key")
  func successor() {
    let (first, second) = (work(), work())
    _ = register(first)
    first.begin()
    #expect(joined() == nil && joined(.joinUnfinished) === first)
    _ = register(second)
    first.end()
    first.end()
    #expect(joined() === second && joined(.joinUnfinished) === second)
    second.end()
    #expect(joined() == nil && keys.table.withLock { $0.count } == 0)
  }

  @Test("X5: an operation that ended before it was registered leaves no entry, and replaces nothing")
  func endedBefore() {
    let (first, second) = (work(), work())
    _ = register(first)
    second.end()
    guard case .added(let replacing, _) = register(second, BlockOperation {}, .replaceWaiting) else {
      Issue.record("the second operation is not added")
      return
    }
    #expect(replacing == [] && joined() === first)
    first.end()
    #expect(keys.table.withLock { $0.count } == 0)
  }
}
