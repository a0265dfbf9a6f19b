/// Cancels several operations and keeps operations that have not started from starting in the meantime.
///
/// Cancelling an operation can run user code and can finish an operation, which makes room for another operation.
/// Therefore, before any user code runs, all of the operations are either cancelled or *stopped*. An operation is
/// stopped if its class overrides ``Operation/cancel()``: the override must find it in its usual state, not cancelled.
/// The operations of a group are stopped as well, because the group cancels them. A stopped operation waits as if it
/// had another dependency for each call that has stopped it. If no override cancels it, the operation can start after
/// these calls.
extension Operation {
  /// Cancels operations together.
  package static func cancel(together operations: [Operation]) {
    var effects = Effects()
    var stopped = StoppedOperations()
    for operation in operations { stopped.stop(operation, leaving: &effects) }
    effects.perform()
    for operation in operations { operation.cancel() }
    stopped.finish()
  }
}

extension OperationQueue {
  /// Implements ``cancelAllOperations()``.
  final func cancelAll() {
    var effects = Effects()
    let stopped = stop(.cancel, leaving: &effects)
    let items = stopped.items
    for item in items where item.before != nil { item.operation.cancelWork() }
    effects.perform()
    for item in items {
      if let before = item.before { item.operation.continueCancelling(from: before) } else { item.operation.cancel() }
    }
    stopped.finish()
  }

  /// Keeps all operations of the queue and of its groups that have not started from starting.
  ///
  /// They are then cancelled, and ``StoppedOperations/finish()`` is called. Blocks without operations leave the queue.
  ///
  /// - Parameters:
  ///   - way: How to treat the operations of the queue. Those in groups are marked.
  ///   - effects: Receives the steps that can run user code.
  /// - Returns: The operations that are kept from starting.
  final func stop(_ way: StoppedOperations.Way = .mark, leaving effects: inout Effects) -> StoppedOperations {
    var stopped = StoppedOperations()
    // A trace contains each block.
    let takesBlocks = !needsEachEnd && !following.contains(.trace)
    stopped.stop(self, way, takingBlocks: takesBlocks, leaving: &effects)
    return stopped
  }
}

extension Admission {
  /// Keeps an operation that has not started from starting, because it is about to be cancelled.
  ///
  /// - Returns: False if it has started, or was cancelled.
  mutating func stop(_ operation: Operation) -> Bool {
    guard operation.state.stop() else { return false }
    // Workers do not search for it.
    if operation.admission.place == .ready {
      removeReady(operation)
      operation.admission.place = .waiting
    }
    return true
  }
}
