import Synchronization

/// Threads of low classes whose operation is raised while they run it.
///
/// The thread continues, because an operation that has begun can't move. If the process has the privilege
/// (`CAP_SYS_NICE`, or `RLIMIT_NICE`), the thread is given the nice value of the more urgent class until it begins
/// another operation. Nothing else depends on that.
///
/// A thread that raises another thread holds the lock of that thread's pool. It sets the bit of ``Worker/raisable``,
/// and then the nice value. The worker's own thread changes the address. If it finds the bit, it takes the lock before
/// it restores its nice value. As a result, the nice value is not lowered afterward.
///
/// The operation may have been raised earlier: other threads help with it, or it was raised while the thread was on its
/// way. Therefore, the worker sets the address and then checks the operation, and a thread that raises the operation
/// marks it and then checks the addresses. Either the worker sees the mark, and raises its own thread as another thread
/// would; or the other thread finds the address. `Models/raise.pml` has this protocol.
extension Worker {
  private static let raisedBit: UInt = 1

  /// Whether the worker's thread has a raised nice value, which may be lowered for a while.
  var isOfLowClass: Bool { pool.workerClass != .normal }

  /// Notes that the thread of a worker of a low class continues with an operation, or with none if it is nil.
  ///
  /// - Parameters:
  ///   - operation: The operation that the thread runs next, or nil. It must stay alive while the thread runs it.
  ///   - queue: The queue of the operation, if there is one.
  /// - Returns: The operation that the thread ran before.
  @discardableResult
  func switchOperation(to operation: OperationReference?, in queue: OperationQueue? = nil) -> OperationReference? {
    switchOperation(to: operation, in: queue, looks: true)
  }

  /// Notes that the thread has returned to the operation that it ran before another operation.
  ///
  /// - Parameter operation: The value that ``switchOperation(to:in:)`` returned.
  func returnFromUserCode(to operation: OperationReference?) {
    // If the thread is no longer inside an operation, that operation has ended, and may have been freed.
    let innermost = operation == nil ? nil : ThreadContext.innermostOperation
    let isInside = innermost.map { OperationReference($0).toOpaque() == operation?.toOpaque() } ?? false
    switchOperation(to: operation, in: ThreadContext.queue, looks: isInside)
  }

  @discardableResult
  private func switchOperation(
    to operation: OperationReference?, in queue: OperationQueue?, looks: Bool
  ) -> OperationReference? {
    let address = operation.map { UInt(bitPattern: $0.toOpaque()) } ?? 0
    guard raisable.load(ordering: .relaxed) & ~Self.raisedBit != address else { return operation }
    let last = raisable.exchange(address, ordering: .sequentiallyConsistent)
    if last & Self.raisedBit != 0 { setNicenessBack() }
    if looks, let operation { raiseThread(ifRaised: operation, in: queue) }
    return UnsafeRawPointer(bitPattern: last & ~Self.raisedBit).map { .fromOpaque($0) }
  }

  /// Raises the calling thread, which continues with an operation, if that operation or its queue has been raised
  /// before.
  private func raiseThread(ifRaised operation: OperationReference, in queue: OperationQueue?) {
    let workerClass = operation._withUnsafeGuaranteedRef { $0.raisedClass(in: queue) }
    guard workerClass.isMoreUrgent(than: pool.workerClass) else { return }
    pool.state.withLock { _ in raiseThread(ifAt: operation, to: workerClass) }
  }

  /// Notes that the thread, which runs no operation, has taken one.
  ///
  /// Called under the queue's lock, and so possibly on the pool manager's thread, whose nice value must not change. The
  /// worker noted no operation before, so it was not raised.
  func noteTaken(_ operation: OperationReference) {
    assert(raisable.load(ordering: .relaxed) == 0, "the worker is at an operation")
    raisable.store(UInt(bitPattern: operation.toOpaque()), ordering: .releasing)
  }

  /// Whether the thread runs this operation and was raised for it.
  ///
  /// Called under the pool's lock.
  func isRaised(for operation: OperationReference) -> Bool {
    raisable.load(ordering: .relaxed) == UInt(bitPattern: operation.toOpaque()) | Self.raisedBit
  }

  @inline(never)
  private func setNicenessBack() {
    pool.state.withLock { _ in }
    _ = ThreadNiceness.enter(pool.workerClass)
  }

  /// Lowers the nice value of the thread while it runs an operation, if the process is allowed to.
  ///
  /// Called under the pool's lock.
  fileprivate func raiseThread(ifAt operation: OperationReference, to workerClass: WorkerClass) {
    let address = UInt(bitPattern: operation.toOpaque())
    let old = raisable.load(ordering: .relaxed)
    guard old & ~Self.raisedBit == address, let probe,
      raisable.compareExchange(
        expected: old, desired: address | Self.raisedBit, ordering: .acquiringAndReleasing
      ).exchanged
    else { return }
    probe.setNiceness(of: workerClass)
  }
}

extension WorkerPool {
  /// Raises the threads of less urgent classes that run an operation.
  ///
  /// O(*n*) in the number of workers of these classes.
  static func raiseThreads(of operation: Operation, to workerClass: WorkerClass) {
    guard PoolManager.isNeeded else { return }
    // In one order with the marks that the caller has set, and with the accesses in `switchOperation(to:in:)`.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let reference = OperationReference(operation)
    for lower in WorkerClass.allCases where workerClass.isMoreUrgent(than: lower) {
      pool(of: lower).state.withLock { state in
        for worker in state.workers { worker.raiseThread(ifAt: reference, to: workerClass) }
      }
    }
  }
}
