import Synchronization

extension WaitGraph {
  /// Blocks the calling thread until `operation` has finished; stops the process if it waits for what the thread is
  /// inside of.
  ///
  /// - Parameters:
  ///   - operation: What to wait for.
  ///   - add: Puts the waiter into its list; false if there is nothing to wait for.
  static func block(on operation: Operation, adding add: (Waiter) -> Bool) {
    let callers = ThreadContext.operations
    guard let caller = callers.first else { return WaiterList.block(adding: add) }
    for caller in callers { caller.setWaitsFor(operation) }
    WaiterList.block(
      checking: {
        guard let path = path(from: operation, to: callers.contains) else { return }
        misuse(
          """
          waitUntilFinished() on \(operation) from inside \(caller.label), for which it waits \
          (\(path.waitingChain)): they would wait for each other for ever.
          """)
      }, adding: add)
    for caller in callers { caller.setWaitsFor(nil) }
  }

  /// Blocks the calling thread until `queue` is empty; stops the process if one of its operations waits for what the
  /// thread is inside of.
  ///
  /// - Parameters:
  ///   - queue: What to wait for.
  ///   - add: Puts the waiter into its list; false if there is nothing to wait for.
  static func block(on queue: OperationQueue, adding add: (Waiter) -> Bool) {
    let callers = ThreadContext.operations
    guard let caller = callers.first else { return WaiterList.block(adding: add) }
    WaiterList.block(
      checking: {
        guard let path = queue.operations.lazy.compactMap({ path(from: $0, to: callers.contains) }).first else {
          return
        }
        misuse(
          """
          waitUntilAllOperationsAreFinished() on \(queue.label) from inside \(caller.label), for which its operations \
          wait (\(path.waitingChain)): they would wait for each other for ever.
          """)
      }, adding: add)
  }
}

extension Operation {
  fileprivate final func setWaitsFor(_ operation: Operation?) {
    links.withLock { links in
      if operation != nil || links.details != nil { links.madeDetails.waitsFor = operation }
    }
  }
}
