/// The current activity of a thread, kept on the thread's own stack.
///
/// The thread's values point to it.
struct ThreadContext {
  private var operation: Unmanaged<Operation>?
  /// Nil for an operation that was started manually outside of operations.
  private var queue: Unmanaged<OperationQueue>?
  /// The batch that contains the operations that the thread runs.
  private var batch: Unmanaged<Batch>?
  /// Other threads may be inside the operation at the same time.
  private let isShared: Bool
  /// The thread's previous activity, further up its stack, which continues afterwards.
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

  /// The queue that owns the operation that the calling thread runs.
  static var queue: OperationQueue? { current?.pointee.queue?.takeUnretainedValue() }

  /// The operation that the calling thread runs: the operation that it entered last.
  static var innermostOperation: Operation? { current?.pointee.operation?.takeUnretainedValue() }

  /// Whether the calling thread is inside an operation that a queue or a caller has started.
  ///
  /// This is also true for the operation's task, even after an `await`: each job of the task runs inside the operation.
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

  /// The batch that contains `operation`, if the calling thread runs it in a batch and entered no other operation
  /// since.
  static func batch(runningInnermost operation: Operation) -> Unmanaged<Batch>? {
    guard let context = current, context.pointee.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
    else { return nil }
    return context.pointee.batch
  }

  /// Whether the calling thread is inside `operation`.
  static func isInside(_ operation: Operation) -> Bool { entrance(into: operation) != nil }

  /// Where the calling thread last entered `operation`: a different address each time, as long as the thread is inside.
  static func entrance(into operation: Operation) -> UnsafeRawPointer? {
    UnsafeRawPointer(innermost { $0.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() })
  }

  /// Whether the calling thread is inside an operation of `queue`.
  static func isInside(_ queue: OperationQueue) -> Bool {
    innermost { $0.queue?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque() } != nil
  }

  /// Whether the calling thread runs an operation of `queue` that has not finished.
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

  /// Runs `body` with the thread marked as running `operation` of `queue`.
  ///
  /// Nested calls restore the previous state.
  ///
  /// - Parameters:
  ///   - operation: The operation to run in.
  ///   - queue: The queue of the operation, or nil if there is none.
  ///   - isShared: Other threads may be inside the operation at the same time.
  ///   - body: The function to run.
  static func run(_ operation: Operation, in queue: OperationQueue?, isShared: Bool = false, _ body: () -> Void) {
    var context = ThreadContext(operation, in: queue, isShared: isShared)
    let worker = Guarded<Void>.isLow ? Worker.current : nil
    let last = worker?.switchOperation(to: OperationReference(operation), in: queue)
    let outer = Worker.setRunning(UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()))
    withUnsafeMutablePointer(to: &context) { enter($0, body) }
    _ = Worker.setRunning(outer)
    worker?.returnFromUserCode(to: last)
    withExtendedLifetime((operation, queue)) {}
  }

  /// Runs `body` with the thread marked as running the operations of `batch`, one after another.
  ///
  /// `body` notes each with ``enter(_:)``.
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

  /// Enters another operation of the batch.
  mutating func enter(_ operation: Unmanaged<Operation>) { self.operation = operation }

  /// Leaves the operation: the thread is inside no operation of its batch.
  ///
  /// The operation may have been freed.
  mutating func leave() { operation = nil }

  /// Leaves the operation and the queue, between two operations of the batch.
  ///
  /// The thread can wait for both, because other threads can reclaim the batch in the meantime.
  mutating func leaveQueue() { (operation, queue) = (nil, nil) }

  mutating func enter(_ queue: OperationQueue) { self.queue = .passUnretained(queue) }

  /// Leaves the batch, which is closed, and can be used for another visit.
  mutating func leaveBatch() { (operation, batch) = (nil, nil) }

  /// Gives the operations that the thread has taken from its queues, but not started, to other threads, because it is
  /// about to block.
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
