/// The registration of a handler with ``OperationProtocol/onCancel(_:)``, which can remove the handler again.
///
/// Unlike an ``KeyValueObservation``, a registration does not remove the handler when you release it. The handler stays
/// until it has been called or the operation has finished.
public struct CancellationRegistration: Sendable {
  /// Nil if the handler was called at registration, or never will be.
  let place: (handlers: CancellationHandlers, number: UInt64)?

  /// Removes the handler and releases it.
  ///
  /// The handler is not called after this method returns, but a call on another thread that has already begun
  /// continues. If the handler has been called or the operation has finished, nothing happens. You can call this method
  /// from any thread, even from the handler.
  ///
  /// - Complexity: O(1).
  public func invalidate() {
    guard let (handlers, number) = place else { return }
    handlers.remove(number)
  }
}

/// The handlers that are called when an operation is cancelled, in the order of registration.
final class CancellationHandlers: Sendable {
  typealias Handler = @Sendable () -> Void

  private struct State {
    var list = KeyedList<UInt64, Handler>()
    var lastNumber: UInt64 = 0
  }

  // Protected by its lock. No function is called, no object is released, and no other lock is taken under it.
  private let state = Guarded(State())

  var isEmpty: Bool { state.withLock { $0.list.isEmpty } }

  /// Appends a handler; returns the number that removes it.
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

  /// Calls and removes each handler that is not removed before its turn.
  func callAll() { while let handler = state.withLock({ $0.list.removeFirst() }) { handler() } }

  /// Removes all handlers.
  func removeAll() {
    ReleasedChain.release(state.withLock { $0.list.removeAll() })
  }
}
