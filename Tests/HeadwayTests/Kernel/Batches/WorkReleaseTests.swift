import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Objects that the user gave an operation for its work are released after the end: a `deinit` can wait for the
/// consequences of the end.
///
/// A test about work that must continue in the meantime hangs if it does not continue.
@Suite("Releasing work", .hangLimit) struct WorkReleaseTests {
  /// Calls a block when it is freed.
  private final class Captured: Sendable {
    private let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) { self.block = block }

    deinit { block() }

    func use(_ number: Int = 0) -> Int { number }
  }

  /// The owner of the object, which releases it at the end.
  enum Holder: String, CaseIterable {
    case addedBlock, block, blocks, subclassOfBlock, barrier, invocation, task, suspendingTask, completionBlock
  }

  private final class Subclass: BlockOperation, @unchecked Sendable {}

  /// Adds an operation that only the queue refers to, and that holds `captured`.
  private func add(_ holder: Holder, with captured: consuming Captured, to queue: OperationQueue) {
    let captured = captured
    switch holder {
    case .addedBlock: queue.addOperation { _ = captured.use() }
    case .block: queue.addOperation(BlockOperation { _ = captured.use() })
    case .blocks:
      let operation = BlockOperation {}
      operation.addExecutionBlock { _ = captured.use() }
      queue.addOperation(operation)
    case .subclassOfBlock: queue.addOperation(Subclass { _ = captured.use() })
    case .barrier: queue.addBarrierBlock { _ = captured.use() }
    case .invocation: queue.addOperation(InvocationOperation(target: captured, method: Captured.use, argument: 1))
    case .task: queue.addTask { _ = captured.use() }
    case .suspendingTask:
      queue.addTask {
        await Task.yield()
        _ = captured.use()
      }
    case .completionBlock:
      let operation = BlockOperation {}
      operation.completionBlock = { _ = captured.use() }
      queue.addOperation(operation)
    }
  }

  @Test(
    "O8, W4: the deinit of an object that an operation captured can wait for its queue, and for later operations",
    arguments: Holder.allCases, [1, 2, -1])
  func waitsForQueue(holder: Holder, limit: Int) {
    let (queue, done) = (OperationQueue(), Gate())
    queue.maxConcurrentOperationCount = limit
    queue.isSuspended = true
    let next = BlockOperation {}
    let captured = Captured {
      next.waitUntilFinished()
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
      done.open()
    }
    add(holder, with: consume captured, to: queue)
    queue.addOperation(next)
    queue.isSuspended = false
    done.wait()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test(
    "O8, Q3: while the deinit of a captured object blocks, later operations run, and a wait for the queue ends",
    arguments: Holder.allCases, [1, 2, -1])
  func blocks(holder: Holder, limit: Int) {
    let (queue, begun, go, nextRan, done) = (OperationQueue(), Gate(), Gate(), Gate(), Gate())
    queue.maxConcurrentOperationCount = limit
    queue.isSuspended = true
    let captured = Captured {
      begun.open()
      nextRan.wait()
      go.wait()
      done.open()
    }
    add(holder, with: consume captured, to: queue)
    queue.addOperation { nextRan.open() }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    begun.wait()
    #expect(queue.operationCount == 0)
    go.open()
    done.wait()
  }

  @Test(
    "O8, D1: the deinit of a captured object can wait for dependents of the operation", arguments: [1, 2, -1],
    [false, true])
  func waitsForDependent(limit: Int, isInOtherQueue: Bool) {
    let (queue, other, ran, done) = (OperationQueue(), OperationQueue(), Gate(), Gate())
    queue.maxConcurrentOperationCount = limit
    let dependent = BlockOperation { ran.open() }
    var operation: BlockOperation? = {
      let captured = Captured {
        ran.wait()
        dependent.waitUntilFinished()
        done.open()
      }
      return BlockOperation { _ = captured.use() }
    }()
    dependent.addDependency(operation!)
    (isInOtherQueue ? other : queue).addOperation(dependent)
    queue.addOperation(operation!)
    operation = nil
    done.wait()
  }

  @Test(
    "O8: a deinit that runs between two operations of a batch can wait for later operations", arguments: [1, 2, -1],
    [false, true])
  func amidBatch(limit: Int, hasDependent: Bool) {
    for position in [40, 150, 299] {
      let (queue, done) = (OperationQueue(), Gate())
      queue.maxConcurrentOperationCount = limit
      queue.isSuspended = true
      let operations = (0..<300).map { _ in BlockOperation {} }
      let last = BlockOperation {}
      let captured = Captured {
        if position < 299 { operations[position + 1].waitUntilFinished() }
        last.waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        done.open()
      }
      let holder = BlockOperation { [captured = consume captured] in _ = captured.use() }
      if hasDependent { last.addDependency(holder) }
      queue.addOperations(
        Array(operations[..<position]) + [holder] + Array(operations[position...]) + [last], waitUntilFinished: false)
      queue.isSuspended = false
      done.wait()
    }
  }

  @Test("O8: in a chain, each operation releases the objects that it captured") func chain() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let freed = Counter()
    var previous: BlockOperation?
    for _ in 0..<300 {
      let captured = Captured { freed.increment() }
      let operation = BlockOperation { [captured = consume captured] in _ = captured.use() }
      if let previous { operation.addDependency(previous) }
      queue.addOperation(operation)
      previous = operation
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { freed.value == 300 })
  }

  @Test("O8: an operation that is retained still releases its work", arguments: Holder.allCases)
  func lateRelease(holder: Holder) {
    let (queue, freed) = (OperationQueue(), Gate())
    queue.isSuspended = true
    add(holder, with: Captured { freed.open() }, to: queue)
    let kept = queue.operations
    queue.isSuspended = false
    freed.wait()
    withExtendedLifetime(kept) {}
  }
}
