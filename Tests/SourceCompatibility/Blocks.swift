// Blocks, with and without errors.

// MARK: adds blocks to a queue

private func addBlocks(_ queue: OperationQueue) {
  queue.addOperation { print("one") }
  queue.addOperation {
    let number = 3
    print(number)
  }
  queue.addOperation({ print("in parentheses") })
  queue.addBarrierBlock { print("barrier") }
  queue.addOperation(BlockOperation { print("operation") })
  queue.addOperations([BlockOperation {}, Operation()], waitUntilFinished: false)
}

// MARK: adds functions and methods as blocks

@Sendable private func freeFunction() {}

private final class Worker: Sendable {
  let queue = OperationQueue()
  func begin() {
    queue.addOperation(freeFunction)
    queue.addOperation(work)
    queue.addOperation(self.work)
    queue.addBarrierBlock(work)
    queue.addOperation(BlockOperation(block: work))
    let operation = BlockOperation()
    operation.addExecutionBlock(work)
  }
  func work() {}
}

// MARK: keeps blocks in variables and passes them on

private func pass(_ block: @escaping @Sendable () -> Void, to queue: OperationQueue) {
  queue.addOperation(block)
  let operation = BlockOperation(block: block)
  operation.addExecutionBlock(block)
  let blocks: [@Sendable () -> Void] = operation.executionBlocks + [block]
  for block in blocks { block() }
  let plain: [() -> Void] = operation.executionBlocks
  plain.forEach { $0() }
}

// MARK: passes blocks that are not Sendable
// Compiles: Foundation 5, Headway 5

private func pass(_ block: @escaping () -> Void, to queue: OperationQueue) {
  queue.addOperation(block)
  queue.addBarrierBlock(block)
  BlockOperation(block: block).addExecutionBlock(block)
}

// MARK: blocks that throw
// Compiles: Headway
// Why: Headway keeps the error.

private func mayFail() throws {}

private func addThrowing(_ queue: OperationQueue, _ block: @escaping @Sendable () throws -> Void) {
  queue.addOperation { try mayFail() }
  queue.addOperation {
    try mayFail()
    print("did not fail")
  }
  queue.addBarrierBlock { try mayFail() }
  queue.addOperation(mayFail)
  queue.addOperation(block)
  let operation = BlockOperation { try mayFail() }
  operation.addExecutionBlock { try mayFail() }
  operation.addExecutionBlock(block)
}

// MARK: blocks that catch their errors

private func mayFailToo() throws -> Int { 3 }

private func addCatching(_ queue: OperationQueue) {
  queue.addOperation {
    do { print(try mayFailToo()) } catch { print(error) }
  }
  queue.addOperation { _ = try? mayFailToo() }
  queue.addBarrierBlock {
    guard let number = try? mayFailToo() else { return }
    print(number)
  }
}

// MARK: a block that gives a value which is not used
// Compiles: nowhere

private func number() -> Int { 3 }

private func addNumber(_ queue: OperationQueue) { queue.addOperation(number) }

// MARK: blocks with a capture list

private final class Owner: @unchecked Sendable {
  let queue = OperationQueue()
  var count = 0
  func begin() {
    queue.addOperation { [weak self] in self?.count += 1 }
    queue.addOperation { [weak self] in
      guard let self = self else { return }
      self.count += 1
    }
    queue.addOperation { [unowned self] in count += 1 }
    let operation = BlockOperation()
    operation.addExecutionBlock { [weak operation] in
      guard let operation, !operation.isCancelled else { return }
      self.count += 1
    }
    operation.addExecutionBlock { [unowned operation] in if operation.isCancelled { return } }
    queue.addOperation(operation)
  }
}

// MARK: a completion block that captures its operation

private func observeEnd(of operation: Operation, then: @escaping @Sendable (Bool) -> Void) {
  operation.completionBlock = { [weak operation] in
    guard let operation = operation else { return }
    then(operation.isCancelled)
  }
  operation.completionBlock = { [unowned operation] in then(operation.isCancelled) }
  let earlier = operation.completionBlock
  operation.completionBlock = {
    earlier?()
    then(operation.isFinished)
  }
  operation.completionBlock?()
  operation.completionBlock = nil
}

// MARK: a subclass of BlockOperation that overrides init

private final class Named: BlockOperation, @unchecked Sendable {
  private let begun: Date
  override init() {
    begun = Date()
    super.init()
    name = "named"
  }
}

private func makeNamed() -> [BlockOperation] { [Named(), Named { print("block") }, Named(block: {})] }

// MARK: a subclass of BlockOperation with properties that have values

private final class Counted: BlockOperation, @unchecked Sendable {
  var count = 0
  let label: String? = nil
}

private func makeCounted() -> [BlockOperation] { [Counted(), Counted { print("block") }] }

// MARK: a subclass of BlockOperation with its own initializer

private final class Labelled: BlockOperation, @unchecked Sendable {
  let label: String
  init(label: String, _ block: @escaping @Sendable () -> Void) {
    self.label = label
    super.init()
    addExecutionBlock(block)
  }
  convenience init(number: Int) {
    self.init(label: "\(number)") { print(number) }
  }
}

private func makeLabelled() -> BlockOperation { Labelled(label: "label") { print("block") } }

// MARK: calls the convenience initializer of BlockOperation by super
// Compiles: nowhere

private final class Delegating: BlockOperation, @unchecked Sendable {
  init(number: Int) { super.init { print(number) } }
}

// MARK: an initializer in an extension of BlockOperation

extension BlockOperation {
  fileprivate convenience init(named name: String, block: @escaping @Sendable () -> Void) {
    self.init(block: block)
    self.name = name
  }
}

private func makeNamedBlock() -> BlockOperation { BlockOperation(named: "name") {} }

// MARK: runs the blocks of a block operation itself

private final class InOrder: BlockOperation, @unchecked Sendable {
  override func main() {
    for block in executionBlocks where !isCancelled { block() }
  }
}

// MARK: blocks from generic code

private func perform<Value>(
  _ work: @escaping @Sendable () -> Value, on queue: OperationQueue, then: @escaping @Sendable (Value) -> Void
) {
  queue.addOperation { then(work()) }
}

private func performThrowing<Value: Sendable>(
  _ work: @escaping @Sendable () throws -> Value, on queue: OperationQueue,
  then: @escaping @Sendable (Result<Value, Error>) -> Void
) {
  queue.addOperation {
    let result = Result { try work() }
    OperationQueue.main.addOperation { then(result) }
  }
}

// MARK: blocks isolated to the main actor
// Compiles: nowhere

@MainActor private func refresh() {}

private func showSoon() { OperationQueue.main.addOperation { refresh() } }

// MARK: blocks that assume the isolation of the main actor

@MainActor private func refreshNow() {}

private func showLater() {
  OperationQueue.main.addOperation { MainActor.assumeIsolated { refreshNow() } }
}

// MARK: a function as the value of an optional block

private func addOptional(_ block: (@Sendable () -> Void)?, to queue: OperationQueue) {
  if let block { queue.addOperation(block) }
  block.map { queue.addOperation($0) }
  block.map(queue.addOperation)
}

// MARK: methods of a queue as values

private func methods(_ queue: OperationQueue, _ operations: [Operation]) {
  operations.forEach(queue.addOperation)
  operations.forEach { queue.addOperation($0) }
  let add: (Operation) -> Void = queue.addOperation
  operations.forEach(add)
  let addBlock: (@escaping @Sendable () -> Void) -> Void = queue.addOperation(_:)
  addBlock {}
  operations.forEach(OperationQueue.main.addOperation(_:))
}
