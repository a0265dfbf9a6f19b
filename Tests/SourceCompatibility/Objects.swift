// Operations and queues as objects: identity, hashing, delegates.

// MARK: keys of sets and dictionaries

private final class Registry: @unchecked Sendable {
  var running: Set<Operation> = []
  var names: [Operation: String] = [:]
  var owners: [OperationQueue: Operation] = [:]
  var queues: Set<OperationQueue> = [.main]
  func register(_ operation: Operation, in queue: OperationQueue) {
    running.insert(operation)
    names[operation] = operation.name ?? "nameless"
    owners[queue] = operation
    queues.insert(queue)
  }
  func remove(_ operation: Operation) { running.remove(operation) }
}

// MARK: equality

private func compare(_ one: Operation, _ other: Operation?, _ queue: OperationQueue, _ block: BlockOperation) -> Bool {
  one == other && one != block && queue == OperationQueue.main && queue == OperationQueue.current && one === other
    && block == one && [one] == [block] && [one].contains(block) && queue.operations.firstIndex(of: one) == 0
}

// MARK: hash and isEqual

private func look(_ operation: Operation, _ queue: OperationQueue) -> Int {
  if operation.isEqual(queue) || queue.isEqual(nil) || operation.isEqual(operation) { return operation.hash }
  return queue.hash ^ operation.hashValue ^ queue.hashValue
}

// MARK: equality and hashing of a subclass's own

private final class Fetch: Operation, @unchecked Sendable {
  let address: String
  init(address: String) {
    self.address = address
    super.init()
  }
  override func isEqual(_ object: Any?) -> Bool { (object as? Fetch)?.address == address }
  override var hash: Int { address.hashValue }
}

private func isWaiting(_ address: String, in queue: OperationQueue) -> Bool {
  queue.operations.contains(Fetch(address: address))
}

// MARK: conformance to a protocol of objects

private protocol Observing: NSObjectProtocol { func changed() }

private final class ObservingOperation: Operation, Observing, @unchecked Sendable { func changed() {} }

private final class ObservingQueue: OperationQueue, Observing, @unchecked Sendable { func changed() {} }

private func isSame(_ one: any NSObjectProtocol, _ other: any NSObjectProtocol) -> Bool {
  one.isEqual(other) && one.hash == other.hash && !one.isProxy() && one.description == other.debugDescription
}

private func objects() -> [any NSObjectProtocol] { [Operation(), OperationQueue(), ObservingOperation().`self`()] }

// MARK: kinds of classes

private func isBlock(_ operation: Operation, _ queue: OperationQueue) -> Bool {
  operation.isKind(of: BlockOperation.self) && !operation.isMember(of: Operation.self)
    && queue.isKind(of: OperationQueue.self)
}

// MARK: an operation that reports progress

private final class Copying: Operation, ProgressReporting, @unchecked Sendable {
  let progress = Progress(totalUnitCount: 10)
  override func main() { progress.completedUnitCount += 1 }
}

private func total(_ parts: [any ProgressReporting]) -> Double { parts.map(\.progress.fractionCompleted).reduce(0, +) }

private func copyingTotal() -> Double { total([Copying(), Copying()]) }

// MARK: a queue that reports progress

private func fraction(of reporting: any ProgressReporting) -> Double { reporting.progress.fractionCompleted }

private func fraction(of queue: OperationQueue) -> Double {
  queue.progress.totalUnitCount = 10
  let shown: Progress = queue.progress
  return fraction(of: queue as any ProgressReporting) + shown.fractionCompleted
}

// MARK: the progress of a queue as a part

private func follow(_ queue: OperationQueue) -> Progress {
  let whole = Progress(totalUnitCount: 10)
  queue.progress.totalUnitCount = 3
  whole.addChild(queue.progress, withPendingUnitCount: 10)
  return whole
}

// MARK: variables of type NSObject
// Compiles: Foundation
// Why: the classes are not subclasses of NSObject.

private func asObject(_ operation: Operation) -> NSObject { operation }

// MARK: copies of an operation
// Compiles: Foundation
// Why: the classes are not subclasses of NSObject; Foundation's copy() of an operation stops the process.

private func copy(_ operation: Operation) -> Any { operation.copy() }

// MARK: an operation that is the delegate of a stream

private final class Streaming: Operation, StreamDelegate, @unchecked Sendable {
  override func main() {
    let stream = InputStream(data: Data())
    stream.delegate = self
    stream.open()
  }
  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {}
}

// MARK: weak and unowned references

private final class Holder {
  weak var operation: Operation?
  weak var queue: OperationQueue?
  unowned let owner: OperationQueue
  unowned(unsafe) var other: Operation
  weak var block: BlockOperation?
  init(_ queue: OperationQueue, _ operation: Operation) {
    owner = queue
    other = operation
    self.queue = queue
    self.operation = operation
  }
}

// MARK: collections of objects of Foundation

private func collect(_ operation: Operation, _ queue: OperationQueue) -> Bool {
  let array: NSMutableArray = [operation]
  array.add(queue)
  let set = NSMutableSet(object: operation)
  set.add(queue)
  let pairs: NSDictionary = ["operation": operation]
  return array.contains(operation) && set.contains(queue) && pairs["operation"] as? Operation == operation
}

// MARK: values in user information

private func post(_ operation: Operation) {
  NotificationCenter.default.post(
    name: Notification.Name("ended"), object: operation,
    userInfo: ["operation": operation, "queue": OperationQueue.main])
}

private func ended(_ notification: Notification) -> Operation? {
  notification.object as? Operation ?? notification.userInfo?["operation"] as? Operation
}

// MARK: caches of operations
// Compiles: Foundation
// Why: NSCache and NSMapTable hold subclasses of NSObject, or objects by a type of Foundation's.

private func cache(_ operation: Operation, in operations: NSCache<NSString, NSObject>) {
  operations.setObject(operation, forKey: "operation")
}

// MARK: caches of operations by key

private func keep(_ operation: Operation) {
  let kept = NSCache<NSString, Operation>()
  kept.setObject(operation, forKey: "operation")
  let names = NSCache<NSNumber, BlockOperation>()
  names.setObject(BlockOperation {}, forKey: 3)
}

// MARK: identifiers and metatypes

private func kinds(of operations: [Operation]) -> [ObjectIdentifier: String] {
  Dictionary(operations.map { (ObjectIdentifier(type(of: $0)), String(describing: type(of: $0))) }) { first, _ in first
  }
}

private func make(_ kind: Operation.Type) -> Bool { kind is BlockOperation.Type || kind == Operation.self }

private func makeAll() -> [Operation] { [Operation.init(), BlockOperation.init(), Operation()] }

// MARK: sorting and comparing priorities

private func sorted(_ operations: [Operation]) -> [Operation] {
  operations.sorted { $0.queuePriority.rawValue > $1.queuePriority.rawValue }
}

private func raise(_ operation: Operation) {
  operation.queuePriority = .veryHigh
  operation.qualityOfService = .userInitiated
  switch operation.queuePriority {
  case .veryLow, .low: operation.queuePriority = .normal
  case .normal: break
  case .high, .veryHigh: break
  @unknown default: break
  }
  operation.queuePriority = Operation.QueuePriority(rawValue: 4) ?? .normal
}
