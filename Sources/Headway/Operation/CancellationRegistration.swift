/// What ``OperationExtensions/onCancel(_:)`` returns: it can remove the handler again.
///
/// Unlike an ``ObservationToken``, you need not keep it: the handler stays until it has been called, or the operation
/// has finished.
public struct CancellationRegistration: Sendable {
  /// Nil if the handler was called, or never will be.
  let place: (handlers: CancellationHandlers, number: UInt64)?

  /// Removes the handler, and releases it.
  ///
  /// When this returns, the handler is not called, except by a call that is under way on another thread. If it has been
  /// called, or the operation has finished, nothing happens. May be called from any thread, even from the handler.
  ///
  /// - Complexity: O(1).
  public func invalidate() {
    guard let (handlers, number) = place else { return }
    handlers.remove(number)
  }
}

/// The handlers to call when an operation is cancelled, in the order of registering.
final class CancellationHandlers: Sendable {
  typealias Handler = @Sendable () -> Void

  private struct State {
    var list = KeyedList<UInt64, Handler>()
    var lastNumber: UInt64 = 0
  }

  // Protected by its lock, under which nothing is called or released, and no other lock is taken.
  private let state = Guarded(State())

  var isEmpty: Bool { state.withLock { $0.list.isEmpty } }

  /// Appends a handler; returns the number with which it can be removed.
  func append(_ handler: @escaping Handler) -> UInt64 {
    state.withLock { state in
      state.lastNumber += 1
      state.list.append(handler, state.lastNumber)
      return state.lastNumber
    }
  }

  func remove(_ number: UInt64) {
    ReleasedChain.release(state.withLock { $0.list.remove(number) })
  }

  /// Calls each that is not removed before its turn, and removes it.
  func callAll() { while let handler = state.withLock({ $0.list.removeFirst() }) { handler() } }

  /// Removes all.
  func removeAll() {
    ReleasedChain.release(state.withLock { $0.list.removeAll() })
  }
}
