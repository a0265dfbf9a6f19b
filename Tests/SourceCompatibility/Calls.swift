// Methods of Foundation that take a queue, and values that pass between operations, threads and Dispatch.

// MARK: notifications in a queue

private final class Listener: @unchecked Sendable {
  let queue = OperationQueue()
  var optional: OperationQueue?
  var observers: [NSObjectProtocol] = []
  let name = Notification.Name("changed")

  func listen() {
    let center = NotificationCenter.default
    observers.append(center.addObserver(forName: name, object: nil, queue: queue) { _ in })
    observers.append(center.addObserver(forName: name, object: self, queue: .main) { print($0) })
    observers.append(center.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in self?.changed() })
    observers.append(center.addObserver(forName: name, object: nil, queue: OperationQueue.main) { _ in })
    observers.append(center.addObserver(forName: name, object: nil, queue: optional) { _ in })
    observers.append(center.addObserver(forName: nil, object: nil, queue: .current) { _ in })
    observers.append(center.addObserver(forName: nil, object: nil, queue: OperationQueue.current) { _ in })
    observers.append(center.addObserver(forName: name, object: nil, queue: OperationQueue()) { _ in })
    observers.append(center.addObserver(forName: name, object: nil, queue: observers.isEmpty ? nil : queue) { _ in })
    observers.append(center.addObserver(forName: name, object: nil, queue: optional ?? .main, using: changed))
    observers.append(center.addObserver(forName: name, object: nil, queue: self.optional ?? queue, using: changed))
  }

  func changed() {}

  @Sendable func changed(_ notification: Notification) {}

  deinit { observers.forEach(NotificationCenter.default.removeObserver) }
}

// MARK: notifications in a queue of a subclass, in a parameter

private final class ListeningQueue: OperationQueue, @unchecked Sendable {}

private func listen(on queue: OperationQueue? = nil, or other: ListeningQueue = ListeningQueue()) -> [NSObjectProtocol]
{
  let center = NotificationCenter()
  return [
    center.addObserver(forName: nil, object: nil, queue: queue) { _ in },
    center.addObserver(forName: nil, object: nil, queue: other) { _ in },
    center.addObserver(forName: nil, object: nil, queue: queue ?? other) { notification in
      print(notification.name)
      print(notification.object as Any)
    },
  ]
}

// MARK: a quality of service as a constant

private func setQuality(_ thread: Thread, _ queue: OperationQueue, _ operation: Operation) {
  thread.qualityOfService = .utility
  queue.qualityOfService = .userInitiated
  operation.qualityOfService = .background
  if thread.qualityOfService == .utility, queue.qualityOfService == .default { print("low") }
}

private func setQuality(of process: Process) { process.qualityOfService = .background }

// MARK: a quality of service as a variable

private func pass(_ quality: QualityOfService, _ thread: Thread, _ queue: OperationQueue, _ operation: Operation) {
  thread.qualityOfService = quality
  queue.qualityOfService = quality
  operation.qualityOfService = queue.qualityOfService
  thread.qualityOfService = operation.qualityOfService
  operation.qualityOfService = thread.qualityOfService
  if thread.qualityOfService == quality || quality == thread.qualityOfService { print("same") }
  let read: QualityOfService = thread.qualityOfService
  queue.qualityOfService = read
}

private func pass(_ quality: QualityOfService, to process: Process, _ queue: OperationQueue) {
  process.qualityOfService = quality
  queue.qualityOfService = process.qualityOfService
}

// MARK: a quality of service as a variable without a type
// Compiles: Foundation
// Why: it is Foundation's type there: write `let quality: QualityOfService`.

private func passUntyped(_ thread: Thread, _ queue: OperationQueue) {
  let quality = thread.qualityOfService
  queue.qualityOfService = quality
}

// MARK: a switch over a quality of service

private func dispatchQuality(of operation: Operation) -> DispatchQoS.QoSClass {
  switch operation.qualityOfService {
  case .userInteractive: return .userInteractive
  case .userInitiated: return .userInitiated
  case .utility: return .utility
  case .background: return .background
  case .default: return .default
  @unknown default: return .default
  }
}

// MARK: conversions between qualities of service
// Compiles: Headway
// Why: Foundation has none.

private func convert(_ queue: OperationQueue, _ thread: Thread) {
  DispatchQueue.global(qos: DispatchQoS.QoSClass(queue.qualityOfService)).async {}
  queue.qualityOfService = QualityOfService(DispatchQoS.QoSClass.utility)
  queue.qualityOfService = QualityOfService(DispatchQoS.background)
  queue.underlyingQueue = DispatchQueue(label: "work", qos: DispatchQoS(queue.qualityOfService))
  queue.qualityOfService = QualityOfService(thread.qualityOfService)
}

// MARK: the raw value of a quality of service

private func store(_ queue: OperationQueue) {
  UserDefaults.standard.set(queue.qualityOfService.rawValue, forKey: "quality")
  queue.qualityOfService = QualityOfService(rawValue: UserDefaults.standard.integer(forKey: "quality")) ?? .default
}

// MARK: dispatch queues under operation queues

private func layers() -> OperationQueue {
  let serial = DispatchQueue(label: "serial", qos: .utility, attributes: .concurrent)
  let queue = OperationQueue()
  queue.underlyingQueue = serial
  queue.underlyingQueue = DispatchQueue.global(qos: .background)
  queue.underlyingQueue = .global()
  queue.underlyingQueue = nil
  if let under = queue.underlyingQueue { under.async { queue.addOperation {} } }
  queue.underlyingQueue?.async(execute: {})
  queue.addOperation { dispatchPrecondition(condition: .notOnQueue(.main)) }
  return queue
}

// MARK: timers, locks and conditions next to queues

private final class Polling: Operation, @unchecked Sendable {
  private let condition = NSCondition()
  private var timer: Timer?
  override func main() {
    condition.lock()
    defer { condition.unlock() }
    while !isCancelled { condition.wait(until: Date(timeIntervalSinceNow: 0.1)) }
    OperationQueue.main.addOperation { [weak self] in self?.timer?.invalidate() }
    RunLoop.current.run(until: Date())
  }
  override func cancel() {
    super.cancel()
    condition.broadcast()
  }
}

// MARK: threads next to queues

private func spawn(_ operation: Operation) -> Thread {
  let thread = Thread {
    operation.start()
    if !Thread.isMainThread { Thread.sleep(forTimeInterval: 0.1) }
  }
  thread.qualityOfService = .userInitiated
  thread.start()
  return thread
}

// MARK: continuations and tasks next to queues

private func run(_ operation: Operation, on queue: OperationQueue) async {
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    operation.completionBlock = { continuation.resume() }
    queue.addOperation(operation)
  }
}

private func value<Value: Sendable>(
  on queue: OperationQueue, _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    queue.addOperation { continuation.resume(with: Result(catching: body)) }
  }
}

private final class TaskOperation: Operation, @unchecked Sendable {
  private var task: Task<Void, Never>?
  override func main() {
    task = Task { [weak self] in
      guard let self else { return }
      self.didChangeValue(for: \.isFinished)
    }
  }
  override func cancel() {
    task?.cancel()
    super.cancel()
  }
}

// MARK: an actor that owns a queue

private actor Store {
  private let queue = OperationQueue()
  private var pending: [Operation] = []
  nonisolated let shared = OperationQueue()
  func add(_ operation: Operation) {
    pending.append(operation)
    queue.addOperation(operation)
    queue.addOperation { [weak self] in
      guard let self else { return }
      Task { await self.clear() }
    }
  }
  func clear() { pending.removeAll() }
}

// MARK: waiting in asynchronous code
// Compiles: Foundation 5, Headway 5

private func waitForAll(_ queue: OperationQueue) async { queue.waitUntilAllOperationsAreFinished() }
