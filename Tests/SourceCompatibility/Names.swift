// Declarations of a program, next to operations and queues.

// MARK: a state in the same file

private enum State: String {
  case ready, executing, finished
  var key: String { "is\(rawValue.capitalized)" }
}

private class Stateful: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var _state = State.ready
  var state: State {
    get { lock.withLock { _state } }
    set {
      let old = state
      willChangeValue(forKey: old.key)
      willChangeValue(forKey: newValue.key)
      lock.withLock { _state = newValue }
      didChangeValue(forKey: old.key)
      didChangeValue(forKey: newValue.key)
    }
  }
  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == State.finished }
  override var isAsynchronous: Bool { true }
  override func start() {
    if isCancelled {
      state = .finished
      return
    }
    main()
    state = .executing
  }
}

// MARK: a state inside the class

private class Nested: Operation, @unchecked Sendable {
  enum State { case waiting, done }
  enum Event { case begun, ended }
  enum Outcome { case success, failure }
  struct Options: OptionSet { let rawValue: Int }
  typealias Completion = (Result<Data, Error>) -> Void
  var state = State.waiting
  var events: [Event] = []
  var outcome: Outcome?
}

// MARK: an event, states, blocks and others in the same file

private enum Event { case queued, dequeued }
private struct Events { var all: [Event] = [] }
private enum States { case some, all }
private enum Outcome { case good, bad }
private enum Phase { case one, two }
private struct Observation { var count = 0 }
private struct Links { var first = 0 }
private typealias ExecutionBlock = (Int) -> Void
private typealias Handler = (String) -> Void
private enum Interest { case none }

private final class EventQueue: OperationQueue, @unchecked Sendable {
  var last: Event = Event.queued
  var everything = Events()
  var observation = Observation()
  var interest = Interest.none
  override func addOperation(_ op: Operation) {
    last = Event.queued
    super.addOperation(op)
  }
}

private final class PhasedOperation: BlockOperation, @unchecked Sendable {
  var states = States.some
  var outcome: Outcome = Outcome.good
  var phase = Phase.one
  var links = Links()
  var block: ExecutionBlock = { _ in }
  var handler: Handler?
}

// MARK: members that have names of Headway's

private final class Own: Operation, @unchecked Sendable {
  var error: Error?
  var outcome = "none"
  var progress = 0.5
  var states = ["one"]
  var state = 3
  var queue: OperationQueue?
  var links: [String] = []
  var phase = "begin"
  var word: UInt = 0
  var details: [String: Any] = [:]
  func fail(_ message: String) { error = CocoaError(.featureUnsupported) }
  func finished() {}
  func end() {}
  func finish() { end() }
  func onCancel() {}
  func run() { finished() }
  func begin() { run() }
  func recordError(_ error: Error?) { self.error = error }
  override func main() {
    fail("message")
    recordError(nil)
    if error == nil, outcome == "none", progress > 0, states.isEmpty { finish() }
  }
}

// MARK: members of a queue that have names of Headway's

private final class OwnQueue: OperationQueue, @unchecked Sendable {
  var events: [String] = []
  var onFailure: ((Error) -> Void)?
  var state = "idle"
  var inbox: [Operation] = []
  func finished() { onFailure?(CocoaError(.featureUnsupported)) }
  func diagnose() -> String { "\(state) \(events)" }
  func add(_ operation: Operation) { inbox.append(operation) }
  func update() {}
  func notify(_ name: String) {}
}

// MARK: a global function called fail

private func fail(_ message: String) {}

private final class Checking: Operation, @unchecked Sendable {
  override func main() { if isCancelled { fail("cancelled") } }
}

// MARK: global functions with names of Headway's members
// Compiles: Foundation
// Why: a member wins over a global: write `Module.drain()`, or declare a member that calls it.

private func recordError(_ text: String) {}
private func drain(_ number: Int) {}

private final class Calling: Operation, @unchecked Sendable {
  override func main() { recordError("text") }
}

private final class CallingQueue: OperationQueue, @unchecked Sendable {
  func look() { drain(3) }
}

// MARK: global variables with names of Headway's members
// Compiles: Foundation
// Why: a member wins over a global.

private let states = ["one", "two"]
private let outcome = "good"

private final class Reading: Operation, @unchecked Sendable {
  override func main() { print(states.joined(), outcome.uppercased()) }
}

// MARK: local variables with names of Headway's members

private final class Local: Operation, @unchecked Sendable {
  override func main() {
    do {
      let progress = Progress(totalUnitCount: 1)
      let states = ["one"]
      print(progress.fractionCompleted, states.joined())
      throw CocoaError(.fileNoSuchFile)
    } catch { print(error.localizedDescription) }
  }
}

// MARK: a module's own Operation

private struct Operation { var name: String }

private func name(of operation: Operation) -> String { operation.name }

private func work() -> Foundation.Operation { Foundation.Operation() }

// MARK: an operation nested in a type

private struct Graph {
  class Operation { var name = "" }
  final class Queue { var operations: [Operation] = [] }
  let queue = OperationQueue()
  var graph = Queue()
}

// MARK: names qualified by the module Foundation

private func qualified(_ operation: Foundation.Operation) -> Foundation.OperationQueue {
  let queue = Foundation.OperationQueue()
  queue.addOperation(operation)
  return queue
}

// MARK: qualified and plain names together

private func mixed(_ operation: Foundation.Operation, _ queue: OperationQueue) { queue.addOperation(operation) }

// MARK: aliases

private typealias Work = Operation
private typealias Priority = Operation.QueuePriority

private final class AliasedWork: Work, @unchecked Sendable {
  var priority: Priority { queuePriority }
}

// MARK: one class imported alone
// Imports: class Foundation.OperationQueue

private let alone = OperationQueue()

// MARK: names imported one by one
// Imports: class Foundation.Operation, class Foundation.OperationQueue, enum Foundation.QualityOfService

private final class OneByOne: Operation, @unchecked Sendable {
  override func main() { print("runs") }
}

private func addOneByOne(to queue: OperationQueue) {
  queue.qualityOfService = QualityOfService.utility
  queue.addOperation(OneByOne())
}

// MARK: names imported one by one next to the module
// Imports: class Foundation.Operation, Foundation

private final class Beside: Operation, @unchecked Sendable {
  override func main() { print(Date()) }
}

private func addBeside(to queue: OperationQueue) { queue.addOperation(Beside()) }

// MARK: a name of the networking module imported alone
// Imports: Foundation, class FoundationNetworking.URLSession

private func session() -> URLSession { URLSession.shared }

// MARK: next to Dispatch and Swift
// Imports: Dispatch, Foundation

private func both(_ queue: OperationQueue) {
  queue.underlyingQueue = DispatchQueue(label: "work")
  let group = DispatchGroup()
  group.enter()
  queue.addOperation { group.leave() }
  group.notify(queue: .main) { OperationQueue.main.addOperation { print("all") } }
  let semaphore = DispatchSemaphore(value: 0)
  queue.addOperation { semaphore.signal() }
  semaphore.wait()
  DispatchQueue.global().async { queue.addOperation {} }
}

// MARK: a subclass and an extension by qualified names

private final class QualifiedWork: Foundation.Operation, @unchecked Sendable {
  var level = Foundation.Operation.QueuePriority.high
  override func main() { print(level, Foundation.QualityOfService.utility) }
}

extension Foundation.Operation {
  fileprivate func addDependencies(_ others: [Foundation.Operation]) { others.forEach(addDependency) }
}

private func addQualified(to queue: OperationQueue, after operation: Operation) {
  operation.addDependencies([QualifiedWork()])
  queue.addOperations([QualifiedWork(), operation], waitUntilFinished: false)
}
