/// What the calling thread is doing, kept in a thread-specific value that points into the thread's own stack.
struct ThreadContext {
  private var operation: Unmanaged<Operation>
  /// Nil for an operation that was started by hand outside of operations.
  private var queue: Unmanaged<OperationQueue>?
  /// The thread is a worker that will ask the queue for its next operation when this one's `start()` returns.
  private var comesBack: Bool
  /// It has been counted as coming back: it holds one of the queue's permissions.
  private var holdsPermission = false
  /// What the thread was doing before, further up its stack, and will go on with.
  private let outer: UnsafeMutablePointer<ThreadContext>?

  private init(_ operation: Operation, in queue: OperationQueue?, comesBack: Bool) {
    self.operation = .passUnretained(operation)
    self.queue = queue.map { .passUnretained($0) }
    self.comesBack = comesBack
    outer = Self.current
  }

  private static let key = ThreadKey()

  private static var current: UnsafeMutablePointer<ThreadContext>? {
    key.value?.assumingMemoryBound(to: ThreadContext.self)
  }

  /// The queue whose operation the calling thread runs.
  static var queue: OperationQueue? { current?.pointee.queue?.takeUnretainedValue() }

  /// The operations that the calling thread is inside of, innermost first.
  static var operations: [Operation] {
    var operations: [Operation] = []
    var position = current
    while let context = position?.pointee {
      operations.append(context.operation.takeUnretainedValue())
      position = context.outer
    }
    return operations
  }

  /// Whether the calling thread is inside `operation`.
  static func isInside(_ operation: Operation) -> Bool {
    isInside { $0.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() }
  }

  /// Whether the calling thread is inside an operation of `queue`.
  static func isInside(_ queue: OperationQueue) -> Bool {
    isInside { $0.queue?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque() }
  }

  private static func isInside(_ condition: (ThreadContext) -> Bool) -> Bool {
    var position = current
    while let context = position?.pointee {
      if condition(context) { return true }
      position = context.outer
    }
    return false
  }

  /// Runs `body` with the thread marked as running `operation` of `queue`; nested calls restore what was before.
  ///
  /// - Returns: Whether the thread holds one of the queue's permissions.
  @discardableResult
  static func run(
    _ operation: Operation, in queue: OperationQueue?, comesBack: Bool = false, _ body: () -> Void
  ) -> Bool {
    var context = ThreadContext(operation, in: queue, comesBack: comesBack)
    withUnsafeMutablePointer(to: &context) { pointer in
      key.value = UnsafeMutableRawPointer(pointer)
      body()
      key.value = pointer.pointee.outer.map { UnsafeMutableRawPointer($0) }
    }
    return withExtendedLifetime((operation, queue)) { context.holdsPermission }
  }

  /// Whether the thread that finished `operation` is the worker that ran it and is about to come back for more.
  ///
  /// Then it need not be sent for. True once a run.
  static func keepPermission(for operation: Operation) -> Bool {
    guard let current, current.pointee.comesBack, !current.pointee.holdsPermission,
      current.pointee.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
    else { return false }
    current.pointee.holdsPermission = true
    return true
  }

  /// Asked before the thread blocks: the queue whose permission it gives up, since it will not be back soon.
  static func surrenderPermission() -> OperationQueue? {
    guard let current, current.pointee.holdsPermission else { return nil }
    current.pointee.holdsPermission = false
    current.pointee.comesBack = false
    return current.pointee.queue?.takeUnretainedValue()
  }
}
