// Structures that packages build from operations and queues: groups, conditions, observers, retries, exclusivity.

// MARK: queues in lazy and static properties

private final class Manager: @unchecked Sendable {
  static let shared = Manager()
  private static let queue: OperationQueue = {
    let queue = OperationQueue()
    queue.name = "org.example.manager"
    queue.qualityOfService = .utility
    queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
    return queue
  }()
  private lazy var serial: OperationQueue = {
    $0.maxConcurrentOperationCount = 1
    return $0
  }(OperationQueue())
  private(set) lazy var waiting = [String: Operation]()
  var isPaused: Bool {
    get { Manager.queue.isSuspended }
    set { Manager.queue.isSuspended = newValue }
  }
  private init() {}
  deinit { serial.cancelAllOperations() }
}

// MARK: a queue of a class's own with a shared instance

private final class ImageQueue: OperationQueue, @unchecked Sendable {
  static let shared = ImageQueue()
  private let label: String
  init(label: String = "images") {
    self.label = label
    super.init()
    name = label
    maxConcurrentOperationCount = 2
  }
  func cancel(where isIncluded: (Operation) -> Bool) { operations.filter(isIncluded).forEach { $0.cancel() } }
  func retryAll() { (operations as? [BlockOperation])?.forEach { $0.cancel() } }
}

// MARK: a group with an inner queue

private class Group: Operation, @unchecked Sendable {
  let queue = OperationQueue()
  private let finishing = BlockOperation(block: {})
  private var isDone = false
  convenience init(_ operations: Operation...) { self.init(operations: operations) }
  init(operations: [Operation]) {
    super.init()
    queue.isSuspended = true
    operations.forEach(add)
    finishing.completionBlock = { [unowned self] in self.groupFinished() }
  }
  func add(_ operation: Operation) {
    finishing.addDependency(operation)
    queue.addOperation(operation)
  }
  override var isFinished: Bool { isDone }
  override func main() {
    queue.addOperation(finishing)
    queue.isSuspended = false
  }
  override func cancel() {
    queue.cancelAllOperations()
    super.cancel()
  }
  func groupFinished() {
    willChangeValue(forKey: "isFinished")
    isDone = true
    didChangeValue(forKey: "isFinished")
  }
}

// MARK: conditions, with results in a queue

private protocol Condition {
  static var name: String { get }
  func dependency(for operation: Operation) -> Operation?
  func evaluate(for operation: Operation, completion: @escaping @Sendable (Bool) -> Void)
}

private class Conditioned: Operation, @unchecked Sendable {
  private(set) var conditions: [Condition] = []
  private var areMet = false
  func require(_ condition: Condition) {
    conditions.append(condition)
    if let dependency = condition.dependency(for: self) { addDependency(dependency) }
  }
  func evaluate() {
    for condition in conditions {
      condition.evaluate(for: self) { [weak self] isMet in
        self?.willChangeValue(forKey: "isReady")
        self?.areMet = isMet
        self?.didChangeValue(forKey: "isReady")
      }
    }
  }
  override var isReady: Bool { super.isReady && (areMet || isCancelled) }
}

// MARK: observers of a program's own

private protocol OperationObserving {
  func didStart(_ operation: Operation)
  func didFinish(_ operation: Operation, errors: [Error])
}

private struct BlockObserver: OperationObserving {
  private let started: ((Operation) -> Void)?
  private let ended: ((Operation, [Error]) -> Void)?
  init(started: ((Operation) -> Void)? = nil, ended: ((Operation, [Error]) -> Void)? = nil) {
    self.started = started
    self.ended = ended
  }
  func didStart(_ operation: Operation) { started?(operation) }
  func didFinish(_ operation: Operation, errors: [Error]) { ended?(operation, errors) }
}

private class Observed: Operation, @unchecked Sendable {
  private var observers: [OperationObserving] = []
  private var errors: [Error] = []
  func observe(_ observer: OperationObserving) { observers.append(observer) }
  override final func start() {
    observers.forEach { $0.didStart(self) }
    super.start()
    if isCancelled { finish(with: CocoaError(.userCancelled)) }
  }
  final func finish(with error: Error? = nil) {
    error.map { errors.append($0) }
    observers.forEach { $0.didFinish(self, errors: errors) }
  }
}

// MARK: exclusivity by dependency on the last of a kind

private final class Exclusivity: @unchecked Sendable {
  private let serial = DispatchQueue(label: "exclusivity")
  private var operations: [String: [Operation]] = [:]
  private var failures: Dictionary<Operation, Array<Error>> = [:]
  func add(_ operation: Operation, kinds: [String]) {
    serial.sync {
      for kind in kinds {
        if let last = operations[kind, default: []].last { operation.addDependency(last) }
        operations[kind, default: []].append(operation)
      }
    }
  }
  func remove(_ operation: Operation, kinds: [String]) {
    serial.async {
      for kind in kinds {
        if let index = self.operations[kind]?.firstIndex(of: operation) { self.operations[kind]?.remove(at: index) }
        self.operations[kind]?.removeAll { $0 === operation || $0.isFinished }
      }
      self.failures[operation] = nil
    }
  }
}

// MARK: a retrying operation with a factory

private final class Retrying<Work: Operation>: Operation, @unchecked Sendable {
  private let queue = OperationQueue()
  private let make: () -> Work?
  private var attempts: Int
  init(attempts: Int, _ make: @escaping () -> Work?) {
    self.attempts = attempts
    self.make = make
    super.init()
  }
  override func main() {
    while attempts > 0, !isCancelled, let work = make() {
      attempts -= 1
      queue.addOperations([work], waitUntilFinished: true)
      if !work.isCancelled { return }
    }
  }
}

// MARK: an adapter between operations

private class Consumer<Input>: Operation, @unchecked Sendable {
  private var ownInput: Input?
  var input: Input? {
    get { ownInput ?? dependencies.compactMap { ($0 as? AnyProvider)?.provided as? Input }.first }
    set { ownInput = newValue }
  }
}

private protocol AnyProvider { var provided: Any? { get } }

private final class Provider: Consumer<Data>, AnyProvider, @unchecked Sendable {
  var provided: Any? { input?.count }
}

// MARK: a persisted queue that names its operations

private final class Persisted: OperationQueue, @unchecked Sendable {
  private let lock = NSRecursiveLock()
  private var index: [String: Operation] = [:]
  override func addOperation(_ operation: Operation) {
    lock.lock()
    defer { lock.unlock() }
    guard let name = operation.name else { return super.addOperation(operation) }
    index[name]?.cancel()
    index[name] = operation
    let last = operation.completionBlock
    operation.completionBlock = { [weak self, weak operation] in
      last?()
      self?.forget(operation)
    }
    super.addOperation(operation)
  }
  private func forget(_ operation: Operation?) {
    lock.withLock { if let name = operation?.name, index[name] === operation { index[name] = nil } }
  }
  override func cancelAllOperations() {
    lock.withLock { index.removeAll() }
    super.cancelAllOperations()
  }
}

// MARK: a module's own classes of the same names

private class Operation: Foundation.Operation, @unchecked Sendable {
  final func require(_ other: Operation) { addDependency(other) }
}

private final class OperationQueue: Foundation.OperationQueue, @unchecked Sendable {
  override func addOperation(_ operation: Foundation.Operation) {
    (operation as? Operation)?.queuePriority = .high
    super.addOperation(operation)
  }
}

private func useOwn() { OperationQueue().addOperation(Operation()) }

// MARK: overrides in an extension
// Compiles: nowhere

private class Extended: Operation, @unchecked Sendable { var isDone = false }

extension Extended {
  override var isFinished: Bool { isDone }
}

// MARK: an operation with a timeout

private final class TimedOut: Operation, @unchecked Sendable {
  private let seconds: TimeInterval
  private let group = DispatchGroup()
  init(seconds: TimeInterval) { self.seconds = seconds }
  override func main() {
    group.enter()
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) { [group] in group.leave() }
    if group.wait(timeout: .now() + .seconds(1)) == .timedOut { cancel() }
    Thread.current.name = name
  }
}

// MARK: a result builder of operations

@resultBuilder private enum OperationsBuilder {
  static func buildBlock(_ parts: [Operation]...) -> [Operation] { parts.flatMap { $0 } }
  static func buildExpression(_ operation: Operation) -> [Operation] { [operation] }
  static func buildOptional(_ part: [Operation]?) -> [Operation] { part ?? [] }
  static func buildArray(_ parts: [[Operation]]) -> [Operation] { parts.flatMap { $0 } }
}

private func build(@OperationsBuilder _ operations: () -> [Operation]) -> [Operation] { operations() }

private func built(_ count: Int) -> [Operation] {
  build {
    BlockOperation { print("first") }
    if count > 1 { Operation() }
    for number in 0..<count { BlockOperation { print(number) } }
  }
}

// MARK: conditional conformances and casts of lists

private func cast(_ queue: OperationQueue) -> Int {
  let blocks = queue.operations as? [BlockOperation] ?? []
  let others = queue.operations.filter { !($0 is BlockOperation) } as [Operation]
  let any: [Any] = queue.operations
  let objects: [AnyObject] = queue.operations
  return blocks.count + others.count + any.count + objects.filter { $0 is Operation }.count
}

// MARK: reads what a queue holds

private func report(_ queue: OperationQueue) -> String {
  let states = queue.operations.map { ($0.isReady, $0.isExecuting, $0.isFinished, $0.isCancelled) }
  let names = queue.operations.compactMap(\.name).sorted().joined(separator: ", ")
  let waiting = queue.operations.filter(\.isReady).count
  return "\(queue) \(queue.operationCount) \(states.count) \(names) \(waiting) \(queue.name ?? "") \(queue.isSuspended)"
}
