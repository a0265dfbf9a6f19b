// Protocols that operations and queues conform to.

// MARK: a protocol that queues conform to

private protocol OperationAdding: AnyObject {
  func addOperation(_ op: Operation)
  func addOperation(_ block: @escaping @Sendable () -> Void)
  func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void)
  func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool)
  func cancelAllOperations()
  func waitUntilAllOperationsAreFinished()
  var operations: [Operation] { get }
  var operationCount: Int { get }
  var isSuspended: Bool { get set }
  var maxConcurrentOperationCount: Int { get set }
  var name: String? { get set }
  var qualityOfService: QualityOfService { get set }
  var underlyingQueue: DispatchQueue? { get set }
}

extension OperationQueue: OperationAdding {}

// MARK: a protocol with a block that is not Sendable
// Compiles: Foundation 5, Headway 5

private protocol BlockAdding {
  func addOperation(_ block: @escaping () -> Void)
}

extension OperationQueue: BlockAdding {}

// MARK: a protocol that operations conform to

private protocol Cancellable: AnyObject {
  func cancel()
  var isCancelled: Bool { get }
}

private protocol Startable: Cancellable {
  func start()
  var isExecuting: Bool { get }
  var isFinished: Bool { get }
  var isReady: Bool { get }
  var isAsynchronous: Bool { get }
  var completionBlock: (@Sendable () -> Void)? { get set }
  var queuePriority: Operation.QueuePriority { get set }
  var dependencies: [Operation] { get }
  func addDependency(_ op: Operation)
  func removeDependency(_ op: Operation)
  func waitUntilFinished()
}

extension Operation: Startable {}

// MARK: a protocol that requires main

private protocol Runnable { func main() }

extension Operation: Runnable {}

// MARK: a protocol that block operations conform to

private protocol BlockHolding {
  init(block: @escaping @Sendable () -> Void)
  var executionBlocks: [@Sendable () -> Void] { get }
  func addExecutionBlock(_ block: @escaping @Sendable () -> Void)
}

private final class Holding: BlockOperation, BlockHolding, @unchecked Sendable {
  convenience required init(block: @escaping @Sendable () -> Void) {
    self.init()
    addExecutionBlock(block)
  }
}

// MARK: a protocol whose static members a queue has

private protocol HasMain {
  static var main: OperationQueue { get }
  static var current: OperationQueue? { get }
  static var defaultMaxConcurrentOperationCount: Int { get }
}

extension OperationQueue: HasMain {}

// MARK: a protocol for subclasses of Operation only

private protocol Step: Operation { var stepName: String { get } }

private final class FirstStep: Operation, Step, @unchecked Sendable { let stepName = "first" }

private func begin(_ step: any Step, in queue: OperationQueue) {
  step.addDependency(FirstStep())
  queue.addOperation(step)
}

// MARK: an operation and a protocol

private protocol Prioritized { var priority: Int { get } }

private final class Sorter {
  var waiting: [Operation & Prioritized] = []
  func next() -> (Operation & Prioritized)? { waiting.max { $0.priority < $1.priority } }
  func add<Work: Operation & Prioritized>(_ work: Work) { waiting.append(work) }
  func hand(to queue: OperationQueue) { next().map { queue.addOperation($0) } }
}

// MARK: an operation as an existential and back

private protocol Job {}

extension Operation: Job {}

private func operations(of jobs: [Job]) -> [Operation] {
  jobs.compactMap { $0 as? Operation } + jobs.filter { $0 is BlockOperation }.map { $0 as! BlockOperation }
}

// MARK: casts between operations

private func describe(_ operation: Operation) -> String {
  switch operation {
  case let block as BlockOperation: "block with \(block.executionBlocks.count)"
  case is Operation where operation.isCancelled: "cancelled"
  default: "other"
  }
}

private func firstBlock(of queue: OperationQueue) -> BlockOperation? {
  queue.operations.lazy.compactMap { $0 as? BlockOperation }.first
}

// MARK: a delegate protocol of an operation

private protocol LoadDelegate: AnyObject {
  func load(_ load: Load, didFinishWith data: Data?)
}

private final class Load: Operation, @unchecked Sendable {
  weak var delegate: LoadDelegate?
  override func main() {
    delegate?.load(self, didFinishWith: nil)
  }
}

// MARK: extensions of operations and queues

extension Operation {
  fileprivate func depend(on others: Operation...) { others.forEach(addDependency) }
  fileprivate static func chain(_ operations: [Operation]) {
    zip(operations, operations.dropFirst()).forEach { $1.addDependency($0) }
  }
  fileprivate var isPending: Bool { !isReady && !isExecuting && !isFinished && !isCancelled }
}

extension OperationQueue {
  fileprivate convenience init(named name: String, width: Int = 1) {
    self.init()
    self.name = name
    maxConcurrentOperationCount = width
  }
  fileprivate static let background = OperationQueue(named: "background")
  fileprivate func add(_ operations: Operation...) { addOperations(operations, waitUntilFinished: false) }
}

// MARK: extensions of collections of operations

extension Sequence where Element: Operation {
  fileprivate func cancelAll() { forEach { $0.cancel() } }
}

extension Array where Element == Operation {
  fileprivate var unfinished: [Operation] { filter { !$0.isFinished } }
}

extension Collection where Element == OperationQueue {
  fileprivate var isSuspended: Bool { allSatisfy(\.isSuspended) }
}

// MARK: an operator on operations

precedencegroup Dependency {
  associativity: left
  higherThan: AssignmentPrecedence
}

infix operator >>> : Dependency

private func >>> (first: Operation, second: Operation) -> Operation {
  second.addDependency(first)
  return second
}

private func join() { _ = Operation() >>> BlockOperation {} >>> Operation() }

// MARK: generic classes of operations

private class Producing<Output>: Operation, @unchecked Sendable {
  private(set) var result: Result<Output, Error>?
  func produce() throws -> Output { fatalError("override") }
  override func main() {
    guard !isCancelled else { return }
    result = Result { try produce() }
  }
}

private final class Parsing<Input, Output>: Producing<[Output]>, @unchecked Sendable {
  let input: Input
  init(_ input: Input) { self.input = input }
  override func produce() throws -> [Output] { [] }
}

private func parse() -> Operation { Parsing<String, Int>("1,2") }

// MARK: an associated type that is an operation

private protocol Factory {
  associatedtype Work: Operation
  func make() -> Work
}

private struct BlockFactory: Factory { func make() -> BlockOperation { BlockOperation {} } }

private func run<F: Factory>(_ factory: F, in queue: OperationQueue) where F.Work == BlockOperation {
  queue.addOperation(factory.make())
}

// MARK: a protocol with a default implementation of a member of the subclass

private protocol Finishing: AnyObject { func finish() }

extension Finishing where Self: Operation {
  func finish() { didChangeValue(forKey: "isFinished") }
}

private final class Finished: Operation, Finishing, @unchecked Sendable {}

private func end(_ operation: Finished) { operation.finish() }

// MARK: default properties that have names of Headway's

private protocol ErrorHolder: AnyObject { var error: Error? { get } }

extension ErrorHolder { var error: Error? { nil } }

private protocol Reporting {
  var progress: Double { get }
  var outcome: Int { get }
  var states: [String] { get }
}

extension Reporting {
  var progress: Double { 0 }
  var outcome: Int { 1 }
  var states: [String] { [] }
}

private class Reporter: Operation, ErrorHolder, Reporting, @unchecked Sendable {
  override func main() {
    if error == nil, let error { print(error) }
    print(progress + 1, outcome + 1, states.joined())
  }
}

private func read(_ reporter: Reporter) -> String? {
  reporter.error.map { "\($0)" } ?? "\(reporter.progress) \(reporter.outcome) \(reporter.states)"
}

// MARK: a default property that takes and gives

private protocol Failable: AnyObject { var error: Error? { get set } }

extension Failable {
  var error: Error? {
    get { nil }
    set {}
  }
}

private final class FailableWork: Operation, Failable, @unchecked Sendable {
  override func main() { error = CocoaError(.fileNoSuchFile) }
}

private func clear(_ work: any Failable & Operation) { work.error = nil }

// MARK: default methods that have names of Headway's

private protocol CancellationObserving { func onCancel(_ handler: @escaping () -> Void) }

extension CancellationObserving {
  func onCancel(_ handler: @escaping () -> Void) {}
  func finished() {}
  func recordError(_ error: Error) {}
  func dependencyCycle() -> Int { 0 }
}

private protocol ErrorRecording { func recordError(_ error: Error) }

extension ErrorRecording { func recordError(_ error: Error) {} }

private class Cancelled: Operation, CancellationObserving, @unchecked Sendable {
  override func main() {
    finished()
    onCancel {}
    recordError(CocoaError(.fileNoSuchFile))
    _ = dependencyCycle() + 1
  }
}

private class Recording: Operation, ErrorRecording, @unchecked Sendable {
  override func main() { recordError(CocoaError(.fileNoSuchFile)) }
}

// MARK: default members of queues that have names of Headway's

private protocol Draining: AnyObject {
  var onFailure: ((Error) -> Void)? { get set }
  func finished()
}

extension Draining {
  var onFailure: ((Error) -> Void)? {
    get { nil }
    set {}
  }
  var events: [String] { [] }
  var order: Int { 0 }
  func finished() {}
  func diagnose(_ operation: Operation) -> Int { 0 }
  func add(_ operation: Operation) {}
}

private class DrainingQueue: OperationQueue, Draining, @unchecked Sendable {
  func drain() {
    onFailure = { print($0) }
    finished()
    add(Operation())
    print(events.joined(), order + 1, diagnose(Operation()) + 1)
  }
}
