// The members that subclasses override. Each case is compiled separately: see script/check-sources.

// MARK: overrides main

private final class Summing: Operation, @unchecked Sendable {
  private var total = 0
  override func main() {
    guard !isCancelled else { return }
    for number in 1...10 where !isCancelled { total += number }
  }
}

// MARK: overrides main and calls super

private class Announcing: Operation, @unchecked Sendable {
  override func main() {
    super.main()
    print("begins")
  }
}

private final class AnnouncingTwice: Announcing, @unchecked Sendable {
  override func main() {
    super.main()
    print("begins again")
  }
}

// MARK: overrides start and calls super

private final class Logging: Operation, @unchecked Sendable {
  override func start() {
    print("starts", self)
    super.start()
  }
}

// MARK: overrides start and calls main

private class Manual: Operation, @unchecked Sendable {
  private var runs = false
  private var ended = false
  override var isExecuting: Bool { runs }
  override var isFinished: Bool { ended }
  override var isAsynchronous: Bool { true }
  override func start() {
    willChangeValue(forKey: "isExecuting")
    runs = true
    didChangeValue(forKey: "isExecuting")
    main()
  }
  func complete() {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    runs = false
    ended = true
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}

// MARK: overrides every open member of an operation

private final class Everything: Operation, @unchecked Sendable {
  override init() { super.init() }
  override func start() { super.start() }
  override func main() { super.main() }
  override func cancel() { super.cancel() }
  override var isCancelled: Bool { super.isCancelled }
  override var isExecuting: Bool { super.isExecuting }
  override var isFinished: Bool { super.isFinished }
  override var isAsynchronous: Bool { super.isAsynchronous }
  override var isReady: Bool { super.isReady }
  override func addDependency(_ op: Operation) { super.addDependency(op) }
  override func removeDependency(_ op: Operation) { super.removeDependency(op) }
  override var dependencies: [Operation] { super.dependencies }
  override var queuePriority: Operation.QueuePriority {
    get { super.queuePriority }
    set { super.queuePriority = newValue }
  }
  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set { super.completionBlock = newValue }
  }
  override func waitUntilFinished() { super.waitUntilFinished() }
  override var qualityOfService: QualityOfService {
    get { super.qualityOfService }
    set { super.qualityOfService = newValue }
  }
  override var name: String? {
    get { super.name }
    set { super.name = newValue }
  }
  override var description: String { "an operation" }
  override var debugDescription: String { "an operation to look at" }
  override var hash: Int { 7 }
  override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
}

// MARK: overrides every open member of a block operation

private final class EveryBlock: BlockOperation, @unchecked Sendable {
  override init() { super.init() }
  override func addExecutionBlock(_ block: @escaping @Sendable () -> Void) { super.addExecutionBlock(block) }
  override var executionBlocks: [@Sendable () -> Void] { super.executionBlocks }
  override func main() { super.main() }
}

// MARK: overrides every open member of a queue

private final class EveryQueue: OperationQueue, @unchecked Sendable {
  override init() { super.init() }
  override func addOperation(_ op: Operation) { super.addOperation(op) }
  override func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {
    super.addOperations(ops, waitUntilFinished: wait)
  }
  override func addOperation(_ block: @escaping @Sendable () -> Void) { super.addOperation(block) }
  override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { super.addBarrierBlock(barrier) }
  override var maxConcurrentOperationCount: Int {
    get { super.maxConcurrentOperationCount }
    set { super.maxConcurrentOperationCount = newValue }
  }
  override var isSuspended: Bool {
    get { super.isSuspended }
    set { super.isSuspended = newValue }
  }
  override var name: String? {
    get { super.name }
    set { super.name = newValue }
  }
  override var qualityOfService: QualityOfService {
    get { super.qualityOfService }
    set { super.qualityOfService = newValue }
  }
  override var underlyingQueue: DispatchQueue? {
    get { super.underlyingQueue }
    set { super.underlyingQueue = newValue }
  }
  override func cancelAllOperations() { super.cancelAllOperations() }
  override func waitUntilAllOperationsAreFinished() { super.waitUntilAllOperationsAreFinished() }
  override class var current: OperationQueue? { super.current }
  override class var main: OperationQueue { super.main }
  override var description: String { "a queue" }
  override var debugDescription: String { "a queue to look at" }
  override var hash: Int { 7 }
  override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
}

// MARK: overrides with blocks that are not Sendable

private final class PlainBlocks: OperationQueue, @unchecked Sendable {
  override func addOperation(_ block: @escaping () -> Void) { block() }
  override func addBarrierBlock(_ barrier: @escaping () -> Void) { barrier() }
}

private final class PlainBlockOperation: BlockOperation, @unchecked Sendable {
  override func addExecutionBlock(_ block: @escaping () -> Void) { block() }
}

// MARK: overrides the list of blocks as blocks that are not Sendable
// Compiles: nowhere

private final class PlainList: BlockOperation, @unchecked Sendable {
  override var executionBlocks: [() -> Void] { super.executionBlocks }
}

// MARK: overrides the lists of a queue
// Compiles: Headway
// Why: on Linux, Foundation has `operations` and `operationCount` in an extension.

private final class Listing: OperationQueue, @unchecked Sendable {
  override var operations: [Operation] { super.operations.reversed() }
  override var operationCount: Int { super.operationCount }
}

// MARK: overrides the progress of a queue
// Compiles: Foundation
// Why: `progress` of a queue is an OperationProgress, as the compiler reports.

private final class Progressing: OperationQueue, @unchecked Sendable {
  override var progress: Progress { super.progress }
}

// MARK: overrides the progress of a queue with Headway's type
// Imports: Foundation, Headway
// Compiles: Headway
// Why: Foundation lacks the type.

private final class OwnProgressing: OperationQueue, @unchecked Sendable {
  private let own = OperationProgress(totalUnitCount: 10)
  override var progress: OperationProgress { own }
}

// MARK: overrides isConcurrent
// Compiles: Headway
// Why: on Linux, Foundation lacks `isConcurrent`, the old name of `isAsynchronous`.

private final class Concurrent: Operation, @unchecked Sendable {
  override var isConcurrent: Bool { true }
}

// MARK: overrides main with throws
// Compiles: Headway
// Why: Headway keeps the error.

private final class Throwing: Operation, @unchecked Sendable {
  override func main() throws { throw CocoaError(.fileNoSuchFile) }
}

// MARK: overrides main of a block operation with throws
// Compiles: nowhere

private final class ThrowingBlocks: BlockOperation, @unchecked Sendable {
  override func main() throws { throw CocoaError(.fileNoSuchFile) }
}

// MARK: overrides isReady with a condition

private final class Conditional: Operation, @unchecked Sendable {
  var allowed = false {
    willSet { willChangeValue(forKey: "isReady") }
    didSet { didChangeValue(forKey: "isReady") }
  }
  override var isReady: Bool { super.isReady && allowed }
}

// MARK: overrides a getter and adds a setter

private class Settable: Operation, @unchecked Sendable {
  private var _executing = false
  private var _finished = false
  override var isExecuting: Bool {
    get { _executing }
    set {
      willChangeValue(forKey: "isExecuting")
      _executing = newValue
      didChangeValue(forKey: "isExecuting")
    }
  }
  override private(set) var isFinished: Bool {
    get { _finished }
    set {
      willChangeValue(for: \.isFinished)
      _finished = newValue
      didChangeValue(for: \.isFinished)
    }
  }
  func finish() {
    isExecuting = false
    isFinished = true
  }
}

// MARK: overrides cancel to cancel work

private final class Cancelling: Operation, @unchecked Sendable {
  private let item = DispatchWorkItem { print("works") }
  override func main() { DispatchQueue.global().sync(execute: item) }
  override func cancel() {
    item.cancel()
    super.cancel()
  }
}

// MARK: overrides the completion block to wrap it

private final class Wrapping: Operation, @unchecked Sendable {
  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set {
      super.completionBlock = {
        print("completes")
        newValue?()
      }
    }
  }
}

// MARK: public and open classes

open class CaseOpenOperation: Operation, @unchecked Sendable {
  open override var isAsynchronous: Bool { true }
  public override init() { super.init() }
  open func work() {}
  public final override func main() { work() }
  public override final func cancel() { super.cancel() }
}

open class CaseOpenQueue: OperationQueue, @unchecked Sendable {
  open override func addOperation(_ op: Operation) { super.addOperation(op) }
}

// MARK: overrides waitUntilFinished and description

private final class Waiting: Operation, @unchecked Sendable {
  override func waitUntilFinished() {
    print("waits for", description, debugDescription)
    super.waitUntilFinished()
  }
  override var description: String { "Waiting(\(name ?? "nameless"), \(super.description))" }
}
