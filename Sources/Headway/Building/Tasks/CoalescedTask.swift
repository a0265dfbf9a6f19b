/// A caller's share of an operation that several calls with the same key can share.
///
/// ```swift
/// let page = queue.addTask(coalescing: addresses[0]) { try await fetch(addresses[0]) }
/// print(page.hasJoined ? "already requested" : "requested")
/// print(try await page.value)
/// ```
///
/// Each call of `addTask(coalescing:)` returns a separate object. All callers that share an ``operation`` receive the
/// same value or error. If you no longer need the result, call ``cancel()``. The operation is cancelled when all of its
/// callers have cancelled their shares. Releasing the object cancels nothing.
///
/// If you cancel a Swift task that awaits the ``value``, only the wait ends. To pass the cancellation on, write this:
///
/// ```swift
/// let page = queue.addTask(coalescing: addresses[0]) { try await fetch(addresses[0]) }
/// let text = try await withTaskCancellationHandler {
///   try await page.value
/// } onCancel: {
///   page.cancel()
/// }
/// print(text)
/// ```
public final class CoalescedTask<Success: Sendable>: @unchecked Sendable {  // The lock of the keys protects variables.
  /// The operation that the calls share.
  ///
  /// Use it to add dependencies, and to read its state. If you cancel it, you cancel it for all callers.
  public let operation: TaskOperation<Success>
  /// Whether the call joined an operation that another call had added.
  ///
  /// If so, the function that you passed is never called.
  public let hasJoined: Bool
  /// Nil if the operation was not added.
  private let work: CoalescedWork?

  @exclusivity(unchecked) private var hasLeft = false
  /// The tasks that wait for the value.
  @exclusivity(unchecked) private var waits: Set<UInt64> = []

  init(_ operation: TaskOperation<Success>, _ work: CoalescedWork?, hasJoined: Bool) {
    (self.operation, self.work, self.hasJoined) = (operation, work, hasJoined)
  }

  /// The value that the function returned.
  ///
  /// Waits like ``TaskOperation/value``. If the waiting task is cancelled, only its wait ends: another task can still
  /// await the value.
  ///
  /// - Throws: The error that the function threw, which all callers receive; a ``DependencyError`` if a required
  ///   dependency failed; `CancellationError` if ``cancel()`` was called, or if the operation or the waiting task was
  ///   cancelled.
  public var value: Success {
    get async throws {
      let wait = WaiterList.nextIdentifier()
      if begin(wait) {
        defer { work?.keys.table.withLock { _ in _ = waits.remove(wait) } }
        try await operation.untilFinished(as: wait) { hasCancelled }
      }
      // If the operation has ended, this no longer changes.
      if hasCancelled { throw CancellationError() }
      return try await operation.value
    }
  }

  /// Notes a wait.
  ///
  /// - Returns: False if there is nothing to wait for.
  private func begin(_ wait: UInt64) -> Bool {
    work?.keys.table.withLock { _ in
      guard !hasLeft, work?.phase != .ended else { return false }
      waits.insert(wait)
      return true
    } ?? false
  }

  /// Whether ``cancel()`` was called before the operation ended.
  private var hasCancelled: Bool { work?.keys.table.withLock { _ in hasLeft } ?? false }

  /// Whether ``value`` throws `CancellationError`, because ``cancel()`` was called or the operation was cancelled.
  public var isCancelled: Bool { hasCancelled || operation.isCancelled }

  /// Cancels the share of this caller, and also the operation if no other caller shares it.
  ///
  /// The tasks that await the ``value`` of this object resume immediately. Other callers are not affected. If no
  /// callers remain, the next call with the key adds a new operation. Calling this method again, or after the operation
  /// has finished, has no effect.
  public func cancel() {
    guard let work else { return }
    let (ended, isLast) = work.keys.table.withLock { _ -> (Set<UInt64>, Bool) in
      guard !hasLeft, work.phase != .ended else { return ([], false) }
      hasLeft = true
      defer { waits = [] }
      return (waits, work.leave())
    }
    for wait in ended { operation.endWait(wait) }
    if isLast { operation.cancel() }
  }
}
