import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Operations of added blocks are recycled only if no code can detect it.
@Suite("Recycled operations", .hangLimit) struct RecycledOperationsTests {
  private let queue = OperationQueue()
  private let executor = VisitExecutor()

  init() { queue.executor = executor }

  @Test("O8, Q1: an operation that another object retains keeps its state when other operations are added")
  func heldOnTo() {
    final class Held: @unchecked Sendable {  // Used by one thread at a time.
      var strong: [Headway.Operation] = []
      var weak: [WeakOperation] = []
    }
    let (held, order) = (Held(), EventRecorder<Int>())
    for round in 0..<20 {
      for number in 0..<40 {
        queue.addOperation {
          order.record(round * 40 + number)
          let current = ThreadContext.operations[0]
          if number % 5 == 0 { held.strong.append(current) }
          if number % 7 == 0 { held.weak.append(WeakOperation(current)) }
        }
      }
      executor.runSteps()
    }
    #expect(order.events == Array(0..<800))
    #expect(Set(held.strong).count == 160 && held.strong.allSatisfy { $0.isFinished && $0.queue == nil })
    // Each remaining one is still referenced.
    let left = held.weak.compactMap(\.operation)
    #expect(left.count == 20 * 2 && Set(left).isSubset(of: held.strong))
  }

  @Test("O6, O7, C1: a reused operation is like new") func isNew() async {
    // Enough for chains to be taken, even if other tests take some.
    for round in 0..<10 {
      for _ in 0..<64 { queue.addOperation {} }
      executor.runSteps()
      queue.isSuspended = true
      for _ in 0..<64 { queue.addOperation {} }
      let operations = queue.operations
      #expect(Set(operations).count == 64)
      #expect(operations.allSatisfy { $0.isAsNew })
      if round % 2 == 0 { queue.cancelAllOperations() }
      queue.isSuspended = false
      executor.runSteps()
      #expect(
        queue.operationCount == 0 && operations.allSatisfy { $0.isFinished && $0.isCancelled == (round % 2 == 0) })
    }
  }

  @Test("O7, D1: an operation that had a name, or whose links are closed, is not reused", arguments: [false, true])
  func touchedLinks(isTracked: Bool) {
    if isTracked { queue.progress.totalUnitCount = 10 }
    let (plain, named) = (BlockOperation {}, BlockOperation {})
    named.name = "import of customer 1"
    for operation in [plain, named] { queue.addOperation(operation) }
    executor.runSteps()
    #expect(plain.isFinished && named.isFinished)
    // With a progress, the end does more work, which closes the links.
    #expect(plain.canBeUsedAgain == !isTracked && !named.canBeUsedAgain)
  }

  @Test("O7, O8, C1, D1: an added operation is like new, regardless of how earlier operations were used")
  func randomTouches() {
    for seed in UInt64(1)...300 {
      var generator = SeededGenerator(seed: seed)
      let queue = OperationQueue()
      queue.executor = executor
      let (order, held) = (EventRecorder<Int>(), EventRecorder<Headway.Operation>())
      for round in 0..<8 {
        queue.isSuspended = true
        queue.progress.totalUnitCount = Bool.random(using: &generator) ? 1_000 : 0
        let blocks = Int.random(in: 1...40, using: &generator)
        for number in 0..<blocks {
          let touch = Touch.random(using: &generator)
          queue.addOperation {
            order.record(round * 100 + number)
            touch?.touch(ThreadContext.operations[0], held)
          }
        }
        var (cancelled, later) = (Set<Int>(), [(Int, Int)]())
        do {
          let added = queue.operations
          #expect(added.allSatisfy { $0.isAsNew }, "seed \(seed)")
          for number in 0..<blocks where Bool.random(using: &generator) {
            let other = Int.random(in: 0...number, using: &generator)
            if other < number {
              added[number].addDependency(added[other])
              later.append((other, number))
              if Bool.random(using: &generator) {
                added[number].removeDependency(added[other])
                later.removeLast()
              }
            }
            let touch = Touch.random(using: &generator)
            touch?.touch(added[number], held)
            if touch == .cancel { cancelled.insert(number) }
          }
        }  // They are released here; otherwise, none could be recycled.
        queue.isSuspended = false
        executor.runSteps()
        let ran = order.events.filter { $0 >= round * 100 }.map { $0 - round * 100 }
        #expect(ran.sorted() == (0..<blocks).filter { !cancelled.contains($0) }, "seed \(seed)")
        for (one, next) in later where !cancelled.contains(one) && !cancelled.contains(next) {
          #expect(ran.firstIndex(of: one) ?? .max < ran.firstIndex(of: next) ?? .min, "seed \(seed)")
        }
      }
      #expect(held.events.allSatisfy { $0.isFinished })
    }
  }

  /// A change to an operation, by its own block or from outside.
  private enum Touch: CaseIterable {
    case name, completionBlock, dependent, priority, quality, observation, progress, handler, hold, cancel

    /// Nothing in half of all cases.
    static func random(using generator: inout SeededGenerator) -> Touch? {
      Bool.random(using: &generator) ? allCases.randomElement(using: &generator) : nil
    }

    func touch(_ operation: Headway.Operation, _ held: EventRecorder<Headway.Operation>) {
      switch self {
      case .name: operation.name = "import of customer 1"
      case .completionBlock: operation.completionBlock = {}
      case .dependent: BlockOperation {}.addDependency(operation)
      case .priority: operation.queuePriority = .high
      case .quality: operation.qualityOfService = .utility
      case .observation: operation.observe(\.isFinished) { _, _ in }.invalidate()
      case .progress: operation.progress.totalUnitCount = 3
      case .handler: operation.onCancel {}
      case .hold: held.record(operation)
      case .cancel: operation.cancel()
      }
    }
  }
}

extension Headway.Operation {
  /// Whether nothing shows that it was ever another operation.
  ///
  /// Its blocks are not read: they hold it weakly, and an operation with another reference is not recycled.
  fileprivate var isAsNew: Bool {
    !isFinished && !isCancelled && !isExecuting && isReady && name == nil && error == nil && completionBlock == nil
      && queuePriority == .normal && qualityOfService == .default && dependencies.isEmpty
      && !links.withLock { $0.isClosed }
  }
}
