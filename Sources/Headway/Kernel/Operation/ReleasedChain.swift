import CHeadway

/// Releases user objects in a loop, so that a long chain of them does not overflow the stack.
///
/// Operations, blocks, and handlers often refer to each other in chains. If each `deinit` freed the next object, a
/// chain of a million would overflow the stack. Therefore, each `deinit` in this module passes its references to the
/// loop of the thread. It must pass the only reference to an object, because a property is released after the `deinit`,
/// outside the loop.
///
/// The properties of a subclass are released after the `deinit` of this module's class. If a property refers to the
/// next operation of a chain, that operation is freed outside the loop. Therefore, when the stack becomes short, a
/// thread of the pool releases the rest of the chain.
enum ReleasedChain {
  /// The list of the loop that is running, on the thread's stack.
  private static var running: UnsafeMutablePointer<[AnyObject]>? {
    ThreadValues.existing?.pointee.release?.assumingMemoryBound(to: [AnyObject].self)
  }

  /// Releases a value.
  ///
  /// Values that the thread passes in the meantime wait in a list until the loop reaches them.
  static func release<Value>(_ value: consuming Value) {
    if let running {
      running.pointee.append(Released(consume value))
    } else if headway_stack_is_short() != 0 {
      releaseElsewhere([Released(consume value)])
    } else {
      var value = Optional(consume value)
      loop { _ = value.take() }
    }
  }

  /// Releases operations, in the same way.
  static func release(_ operations: consuming [Operation]) {
    guard !operations.isEmpty else { return }
    if let running {
      running.pointee.append(contentsOf: operations)
    } else if headway_stack_is_short() != 0 {
      releaseElsewhere(consume operations)
    } else {
      var operations = Optional(consume operations)
      loop { _ = operations.take() }
    }
  }

  /// Passes the list to another thread, because this thread is about to block, perhaps until one of the objects in the
  /// list has been freed.
  static func threadBlocks() {
    guard let running, !running.pointee.isEmpty else { return }
    let waiting = running.pointee
    running.pointee = []
    releaseElsewhere(waiting)
  }

  private static func loop(_ begin: () -> Void) {
    var waiting: [AnyObject] = []
    withUnsafeMutablePointer(to: &waiting) { pointer in
      let values = ThreadValues.current
      values.pointee.release = UnsafeMutableRawPointer(pointer)
      begin()
      while pointer.pointee.popLast() != nil {}
      values.pointee.release = nil
    }
  }

  private static func releaseElsewhere(_ objects: consuming [AnyObject]) {
    let left = Left(consume objects)
    WorkerPool.shared.submit(PoolBlock { release(left.take()) }, count: 1)
  }

  /// The objects that a thread leaves to another thread.
  private final class Left: @unchecked Sendable {  // One thread after the other uses it.
    private var objects: [AnyObject]

    init(_ objects: consuming [AnyObject]) { self.objects = objects }

    func take() -> [AnyObject] {
      defer { objects = [] }
      return objects
    }
  }

  private final class Released<Value> {
    private let value: Value

    init(_ value: consuming Value) { self.value = value }
  }
}
