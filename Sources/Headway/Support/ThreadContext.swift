/// What the calling thread is doing, kept in a thread-specific value that points into the thread's own stack.
struct ThreadContext {
  private var operation: Unmanaged<Operation>?
  /// Nil for an operation that was started by hand outside of operations.
  private var queue: Unmanaged<OperationQueue>?
  /// The thread is a worker that will ask the queue for its next operation when this one's `start()` returns.
  private var comesBack: Bool
  /// It has been counted as coming back: it holds one of the queue's permissions.
  private var holdsPermission = false
  /// The run whose operations the thread runs.
  private var run: Unmanaged<OperationRun>?
  /// What the thread was doing before, further up its stack, and will go on with.
  private let outer: UnsafeMutablePointer<ThreadContext>?

  private init(_ operation: Operation?, in queue: OperationQueue?, comesBack: Bool) {
    self.operation = operation.map { .passUnretained($0) }
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
      if let operation = context.operation { operations.append(operation.takeUnretainedValue()) }
      position = context.outer
    }
    return operations
  }

  /// Whether the calling thread is inside `operation`.
  static func isInside(_ operation: Operation) -> Bool {
    isInside { $0.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() }
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

  /// Runs `body` with the thread marked as running the operations of `run`, one after the other, which `body` announces
  /// with ``enter(_:)``.
  static func run(
    in queue: OperationQueue, _ run: OperationRun, _ body: (UnsafeMutablePointer<ThreadContext>) -> Void
  ) {
    var context = ThreadContext(nil, in: queue, comesBack: false)
    context.run = .passUnretained(run)
    withUnsafeMutablePointer(to: &context) { pointer in
      key.value = UnsafeMutableRawPointer(pointer)
      body(pointer)
      key.value = pointer.pointee.outer.map { UnsafeMutableRawPointer($0) }
    }
  }

  /// The thread goes on to another operation of its run.
  mutating func enter(_ operation: Unmanaged<Operation>) { self.operation = operation }

  /// The thread is inside no operation of its run: the last one may have been freed.
  mutating func leave() { operation = nil }

  /// The run is closed, and may be used for another visit.
  mutating func leaveRun() { (operation, run) = (nil, nil) }

  /// Whether the thread that finished `operation` is the worker that ran it and is about to come back for more.
  ///
  /// Then it need not be sent for. True once a run.
  static func keepPermission(for operation: Operation) -> Bool {
    guard let current, current.pointee.comesBack, !current.pointee.holdsPermission,
      current.pointee.operation?.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
    else { return false }
    current.pointee.holdsPermission = true
    return true
  }

  /// The thread is about to block: what it keeps for itself of its queues' work, it leaves to others.
  static func threadBlocks() {
    var position = current
    while let context = position {
      let queue = context.pointee.queue?.takeUnretainedValue()
      if context.pointee.holdsPermission {
        context.pointee.holdsPermission = false
        context.pointee.comesBack = false
        queue?.workerWillNotComeBack()
      } else if let run = context.pointee.run?.takeUnretainedValue() {
        queue?.threadBlocks(in: run)
      }
      position = context.pointee.outer
    }
  }
}
