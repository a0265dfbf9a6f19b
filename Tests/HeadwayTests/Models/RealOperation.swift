import Headway
import Synchronization

/// The observations of an operation of the library.
final class Witness: Sendable {
  struct Seen {
    var runs = 0
    var completions: [Int] = []
    var cancellations = 0
    var told: [Observation.Value] = []
  }

  private let state = Mutex(Seen())

  var seen: Seen { state.withLock { $0 } }

  /// Blocks of an operation, and completion blocks, can run on several threads.
  func see(_ change: @Sendable (inout Seen) -> Void) { state.withLock { change(&$0) } }
}

/// An operation, and its observations.
struct RealOperation {
  let operation: Headway.Operation
  let witness: Witness
  var tokens: [KeyValueObservation] = []

  /// Creates the operation of a program with the given number; a barrier does not exist yet.
  init?(_ kind: OperationKind, number: Int, in program: RealProgram) {
    let witness = Witness()
    let body: @Sendable () -> Void = { [unowned program] in program.begin(number, witness) }
    switch kind {
    case .plain: operation = ModelPlainOperation(body, error: nil)
    case .failing: operation = ModelPlainOperation(body, error: Mishap(name: "main \(number)"))
    case .blocks:
      let block = BlockOperation(block: body)
      block.addExecutionBlock { witness.see { $0.runs += 1 } }
      operation = block
    case .barrier: return nil
    case .asynchronous: operation = ModelAsynchronousOperation(body)
    case .posting: operation = ModelPostingOperation(body)
    case .held: operation = ModelHeldOperation(body)
    }
    self.witness = witness
  }

  /// A barrier that the library has created.
  init(barrier: Headway.Operation, _ witness: Witness) {
    operation = barrier
    self.witness = witness
  }
}

/// Except for constants, the fields of these operations are used on the test's own thread only.
private final class ModelPlainOperation: Headway.Operation, @unchecked Sendable {
  private let body: @Sendable () -> Void
  private let mishap: Mishap?

  init(_ body: @escaping @Sendable () -> Void, error: Mishap?) {
    self.body = body
    mishap = error
  }

  override func main() throws {
    body()
    if let mishap { throw mishap }
  }
}

private final class ModelAsynchronousOperation: AsynchronousOperation, @unchecked Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  override func main() { body() }
}

/// An operation that is ready when the program allows it.
final class ModelHeldOperation: Headway.Operation, @unchecked Sendable {
  private let body: @Sendable () -> Void
  private var isAllowed = false

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  override var isReady: Bool { super.isReady && isAllowed }
  override func main() { body() }

  func allow(_ isAllowed: Bool) {
    willChangeValue(forKey: "isReady")
    self.isAllowed = isAllowed
    didChangeValue(forKey: "isReady")
  }
}

/// An asynchronous operation as in the seeds.
final class ModelPostingOperation: Headway.Operation, @unchecked Sendable {
  private let body: @Sendable () -> Void
  private var own = (isExecuting: false, isFinished: false)

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { own.isExecuting }
  override var isFinished: Bool { own.isFinished }

  override func start() {
    guard !isCancelled else { return finish() }
    willChangeValue(for: \.isExecuting)
    own.isExecuting = true
    didChangeValue(for: \.isExecuting)
    body()
  }

  func finish() {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    own = (isExecuting: false, isFinished: true)
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}
