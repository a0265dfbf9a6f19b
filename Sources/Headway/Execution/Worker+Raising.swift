import Synchronization

/// Threads of low classes whose operation is raised while they are at it.
///
/// The thread continues, because an operation that has begun can't move. If the process has the privilege
/// (`CAP_SYS_NICE`, or `RLIMIT_NICE`), the thread is given the nice value of the more urgent class until it begins
/// another operation. Nothing else depends on that.
///
/// A thread that raises another has the lock of that one's pool: it sets the bit of ``Worker/raisable``, and then the
/// nice value. The worker's own thread changes the address; if it finds the bit, it takes the lock before it sets its
/// nice value back. So the nice value is not lowered after that.
///
/// The operation may have been raised before: others help with it, or it was raised while the thread came. So the
/// worker sets the address and then looks at the operation, and who raises that marks it and then looks at the
/// addresses. Either the worker sees the mark, and raises its own thread as another would; or the other finds the
/// address.
/// `Models/raise.pml` has this protocol.
extension Worker {
  private static let raisedBit: UInt = 1

  /// Whether its thread has a raised nice value, which may be lowered for a while.
  var isOfLowClass: Bool { pool.workerClass != .normal }

  /// The thread of a worker of a low class continues with an operation; nil for none.
  ///
  /// - Parameters:
  ///   - operation: The operation, which is there as long as the thread is at it.
  ///   - queue: Its queue.
  /// - Returns: The operation that it was at.
  @discardableResult
  func goOn(to operation: OperationReference?, in queue: OperationQueue? = nil) -> OperationReference? {
    goOn(to: operation, in: queue, looks: true)
  }

  /// The thread comes back to what it was at before it went on to another operation.
  ///
  /// - Parameter operation: What ``goOn(to:in:)`` has returned.
  func comeBack(to operation: OperationReference?) {
    // One that the thread is no longer inside of has ended, and may have been freed.
    let innermost = operation == nil ? nil : ThreadContext.innermostOperation
    let isInside = innermost.map { OperationReference($0).toOpaque() == operation?.toOpaque() } ?? false
    goOn(to: operation, in: ThreadContext.queue, looks: isInside)
  }

  @discardableResult
  private func goOn(
    to operation: OperationReference?, in queue: OperationQueue?, looks: Bool
  ) -> OperationReference? {
    let address = operation.map { UInt(bitPattern: $0.toOpaque()) } ?? 0
    guard raisable.load(ordering: .relaxed) & ~Self.raisedBit != address else { return operation }
    let last = raisable.exchange(address, ordering: .sequentiallyConsistent)
    if last & Self.raisedBit != 0 { setNicenessBack() }
    if looks, let operation { raiseThread(ifRaised: operation, in: queue) }
    return UnsafeRawPointer(bitPattern: last & ~Self.raisedBit).map { .fromOpaque($0) }
  }

  /// Raises the calling thread, which has gone on to an operation, if that or its queue has been raised before.
  private func raiseThread(ifRaised operation: OperationReference, in queue: OperationQueue?) {
    let workerClass = operation._withUnsafeGuaranteedRef { $0.raisedClass(in: queue) }
    guard workerClass.isMoreUrgent(than: pool.workerClass) else { return }
    pool.state.withLock { _ in raiseThread(ifAt: operation, to: workerClass) }
  }

  /// The thread has taken an operation, and is at none.
  ///
  /// Called under the queue's lock, and so perhaps on the pool manager's thread, whose nice value is not to be changed:
  /// the worker has gone on to no operation before, and so was not raised.
  func noteTaken(_ operation: OperationReference) {
    assert(raisable.load(ordering: .relaxed) == 0, "the worker is at an operation")
    raisable.store(UInt(bitPattern: operation.toOpaque()), ordering: .releasing)
  }

  /// Whether the thread is at an operation, and was raised for that.
  ///
  /// Under the pool's lock.
  func isRaised(for operation: OperationReference) -> Bool {
    raisable.load(ordering: .relaxed) == UInt(bitPattern: operation.toOpaque()) | Self.raisedBit
  }

  @inline(never)
  private func setNicenessBack() {
    pool.state.withLock { _ in }
    _ = ThreadNiceness.enter(pool.workerClass)
  }

  /// Lowers the nice value of the thread, where that is allowed, while it is at an operation.
  ///
  /// Under the pool's lock.
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
  /// Raises the threads of less urgent classes that are at an operation.
  ///
  /// O(*n*) in the number of workers of these classes.
  static func raiseThreads(of operation: Operation, to workerClass: WorkerClass) {
    guard PoolManager.isNeeded else { return }
    // In one order with the marks that the caller has set, and with what `goOn(to:in:)` does.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let reference = OperationReference(operation)
    for lower in WorkerClass.allCases where workerClass.isMoreUrgent(than: lower) {
      pool(of: lower).state.withLock { state in
        for worker in state.workers { worker.raiseThread(ifAt: reference, to: workerClass) }
      }
    }
  }
}
