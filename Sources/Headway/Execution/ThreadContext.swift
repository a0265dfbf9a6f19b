/// What the calling thread is doing, kept on its own stack, to which the thread's values point.
struct ThreadContext {
  private var operation: Unmanaged<Operation>?
  /// Nil for an operation that was started by hand outside of operations.
  private var queue: Unmanaged<OperationQueue>?
  /// The batch whose operations the thread runs.
  private var batch: Unmanaged<Batch>?
  /// Other threads may be inside the operation at the same time.
  private let isShared: Bool
  /// What the thread was doing before, further up its stack, and will go on with.
  private let outer: UnsafeMutablePointer<ThreadContext>?

  private init(_ operation: Operation?, in queue: OperationQueue?, isShared: Bool = false) {
    self.isShared = isShared
    self.operation = operation.map { .passUnretained($0) }
    self.queue = queue.map { .passUnretained($0) }
    outer = Self.current
  }

  private static var current: UnsafeMutablePointer<ThreadContext>? {
    ThreadValues.existing?.pointee.context?.assumingMemoryBound(to: ThreadContext.self)
  }

  /// The queue whose operation the calling thread runs.
  static var queue: OperationQueue? { current?.pointee.queue?.takeUnretainedValue() }

  /// The operation that the calling thread runs: that which it went into last.
  static var innermostOperation: Operation? { current?.pointee.operation?.takeUnretainedValue() }

  /// Whether the calling thread is inside an operation, whether a queue or a caller has started that.
  ///
  /// The same for its task, after an `await` too: each job of an operation's task runs inside the operation.
  static var isInsideOperation: Bool { innermost { $0.operation != nil || $0.queue != nil } != nil }

  /// The operations that the calling thread is inside of, innermost first.
  static var operations: [Operation] {
    var operations: [Operation] = []
    var position = current
    while let context = position?.pointee {
      if let operation = context.operation { operations.append(operation.takeUnretainedValue()) }
      position = context.outer
    }
    return operations
  }

  /// The batch of which the calling thread runs `operation`, if that is what it went into last.
  static func batch(runningInnermost operation: Operation) -> Batch? {
    guard let context = current, context.pointee.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
    else { return nil }
    return context.pointee.batch?.takeUnretainedValue()
  }

  /// Whether the calling thread is inside `operation`.
  static func isInside(_ operation: Operation) -> Bool { entrance(into: operation) != nil }

  /// Where the calling thread went into `operation` last: another place each time, as long as it is inside.
  static func entrance(into operation: Operation) -> UnsafeRawPointer? {
    UnsafeRawPointer(innermost { $0.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() })
  }

  /// Whether the calling thread is inside an operation of `queue`.
  static func isInside(_ queue: OperationQueue) -> Bool {
    innermost { $0.queue?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque() } != nil
  }

  /// Whether the calling thread is the one that runs an operation of `queue`, which has not finished.
  static func isRunningOperation(of queue: OperationQueue) -> Bool {
    let context = innermost { $0.queue?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque() }
    guard let context, !context.pointee.isShared, let operation = context.pointee.operation else { return false }
    return operation._withUnsafeGuaranteedRef { $0.state.current.isRunning }
  }

  private static func innermost(where condition: (ThreadContext) -> Bool) -> UnsafeMutablePointer<ThreadContext>? {
    var position = current
    while let context = position, !condition(context.pointee) { position = context.pointee.outer }
    return position
  }

  /// Runs `body` with the thread marked as running `operation` of `queue`; nested calls restore what was before.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - queue: Its queue.
  ///   - isShared: Other threads may be inside the operation at the same time.
  ///   - body: What to run.
  static func run(_ operation: Operation, in queue: OperationQueue?, isShared: Bool = false, _ body: () -> Void) {
    var context = ThreadContext(operation, in: queue, isShared: isShared)
    let worker = Guarded<Void>.isLow ? Worker.current : nil
    let last = worker?.goOn(to: OperationReference(operation), in: queue)
    withUnsafeMutablePointer(to: &context) { enter($0, body) }
    worker?.comeBack(to: last)
    withExtendedLifetime((operation, queue)) {}
  }

  /// Runs `body` with the thread marked as running the operations of `batch`, one after the other, which `body` notes
  /// with ``enter(_:)``.
  static func run(
    in queue: OperationQueue, _ batch: Batch, _ body: (UnsafeMutablePointer<ThreadContext>) -> Void
  ) {
    var context = ThreadContext(nil, in: queue)
    context.batch = .passUnretained(batch)
    withUnsafeMutablePointer(to: &context) { pointer in enter(pointer) { body(pointer) } }
  }

  private static func enter(_ pointer: UnsafeMutablePointer<ThreadContext>, _ body: () -> Void) {
    let values = ThreadValues.current
    values.pointee.context = UnsafeMutableRawPointer(pointer)
    body()
    values.pointee.context = pointer.pointee.outer.map { UnsafeMutableRawPointer($0) }
  }

  /// The thread goes on to another operation of its batch.
  mutating func enter(_ operation: Unmanaged<Operation>) { self.operation = operation }

  /// The thread is inside no operation of its batch: the last one may have been freed.
  mutating func leave() { operation = nil }

  /// The thread is inside neither an operation nor the queue, between two operations of its batch: it may wait for
  /// both, since others may reclaim the batch meanwhile.
  mutating func leaveQueue() { (operation, queue) = (nil, nil) }

  mutating func enter(_ queue: OperationQueue) { self.queue = .passUnretained(queue) }

  /// The batch is closed, and may be used for another visit.
  mutating func leaveBatch() { (operation, batch) = (nil, nil) }

  /// The thread is about to block: what it has taken of its queues' work, and not started, it leaves to others.
  static func threadBlocks() {
    var position = current
    while let context = position {
      if let batch = context.pointee.batch?.takeUnretainedValue() {
        batch.home?.takeUnretainedValue().threadBlocks(in: batch)
      }
      position = context.pointee.outer
    }
  }
}
