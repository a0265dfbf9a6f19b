import Headway
import HeadwayTestKit
import Testing

/// The members that subclasses override, and the calls that they receive.
@Suite("Subclasses", .hangLimit) struct SubclassTests {
  @Test("Q1: a subclass that overrides addOperation(_:) also receives blocks, throwing or not")
  func operationsOfBlocks() {
    final class Listening: OperationQueue, @unchecked Sendable {
      let added = EventRecorder<Headway.Operation>()
      override func addOperation(_ operation: Headway.Operation) {
        added.record(operation)
        super.addOperation(operation)
      }
    }
    let queue = Listening()
    let mishap: @Sendable () throws -> Void = { throw Mishap() }
    queue.addOperation {}
    queue.addOperation(mishap)
    queue.addOperation(BlockOperation {})
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.added.events.count == 3)
    #expect(queue.added.events[1].error as? Mishap == Mishap())
  }

  @Test("Q1: a subclass can accept blocks itself; throwing ones arrive as operations") func blocks() {
    final class Taking: OperationQueue, @unchecked Sendable {
      let heard = EventRecorder<String>()
      override func addOperation(_ operation: Headway.Operation) {
        heard.record("operation")
        super.addOperation(operation)
      }
      override func addOperation(_ block: @escaping () -> Void) {
        heard.record("block")
        block()
      }
      override func addBarrierBlock(_ barrier: @escaping () -> Void) {
        heard.record("barrier")
        barrier()
      }
    }
    let queue = Taking()
    queue.addOperation { queue.heard.record("one") }
    queue.addBarrierBlock { queue.heard.record("two") }
    let mishap: @Sendable () throws -> Void = { throw Mishap() }
    queue.addOperation(mishap)
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.heard.events == ["block", "one", "barrier", "two", "operation"])
  }

  @Test("B1: a subclass that overrides init() keeps init(block:)") func initializers() {
    final class Prepared: BlockOperation, @unchecked Sendable {
      let ran = EventRecorder<Int>()
      let heard = EventRecorder<String>()
      override init() {
        super.init()
        let ran = ran
        addExecutionBlock { ran.record(0) }
      }
      override func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
        heard.record("block")
        super.addExecutionBlock(block)
      }
    }
    let count = EventRecorder<Int>()
    let operation = Prepared { count.record(1) }
    let failing = Prepared { throw Mishap() }
    #expect(operation.executionBlocks.count == 2)
    OperationQueue().addOperations([operation, failing], waitUntilFinished: true)
    #expect(operation.ran.count == 1 && count.count == 1)
    // As with Foundation, there is no notification of dependencies that the initializer adds.
    #expect(operation.heard.count == 1 && failing.heard.count == 1)
    #expect(failing.ran.count == 1)
    #expect(failing.error as? Mishap == Mishap())
  }

  @Test("B1: a block of executionBlocks can be called, and its error is the operation's error")
  func callingBlocks() {
    final class InOrder: BlockOperation, @unchecked Sendable {
      override func main() { for block in executionBlocks { block() } }
    }
    let ran = EventRecorder<Int>()
    let operation = InOrder { ran.record(1) }
    operation.addExecutionBlock { throw Mishap() }
    operation.addExecutionBlock { ran.record(3) }
    operation.start()
    #expect(ran.events == [1, 3])
    #expect(operation.error as? Mishap == Mishap())
  }

  @Test("B1: super.main() of a block operation runs its blocks and keeps their errors") func superMain() {
    final class Framed: BlockOperation, @unchecked Sendable {
      let heard = EventRecorder<String>()
      override func main() {
        heard.record("before")
        super.main()
        heard.record("after")
      }
    }
    let operation = Framed()
    operation.addExecutionBlock {
      operation.heard.record("block")
      throw Mishap()
    }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.heard.events == ["before", "block", "after"])
    #expect(operation.error as? Mishap == Mishap())
  }

  @Test("Q7: a subclass has its own main and current queues") func classProperties() {
    final class Other: OperationQueue, @unchecked Sendable {
      override class var main: OperationQueue { OperationQueue.main }
      override class var current: OperationQueue? { nil }
    }
    #expect(Other.main === OperationQueue.main)
    #expect(Other.current == nil)
  }

  @Test("O1: operations and queues are equal by identity, unless a subclass overrides the comparison") func equality() {
    final class Fetch: Headway.Operation, @unchecked Sendable {
      let address: String
      init(_ address: String) { self.address = address }
      override func isEqual(_ object: Any?) -> Bool { (object as? Fetch)?.address == address }
      override var hash: Int { address.hashValue }
    }
    let (one, other) = (Headway.Operation(), Headway.Operation())
    #expect(one == one && one != other)
    #expect(one.isEqual(one) && !one.isEqual(other) && !one.isEqual(nil) && !one.isEqual(3))
    #expect(Set([one, one, other]).count == 2)
    let queue = OperationQueue()
    #expect(queue == queue && queue != OperationQueue.main)
    #expect(Set([queue, .main, queue]).count == 2)
    #expect(Set([Fetch("a"), Fetch("b"), Fetch("a")]).count == 2)
    // Queues and dependencies still treat equal operations as two.
    let (first, second) = (Fetch("a"), Fetch("a"))
    first.addDependency(second)
    #expect(first == second && first.dependencies.count == 1)
    queue.addOperations([first, second], waitUntilFinished: true)
    #expect(first.isFinished && second.isFinished)
  }
}
