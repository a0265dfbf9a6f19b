import Synchronization

@testable import Headway

extension Headway.Operation {
  /// Whether there is a list of observers.
  var keepsObservers: Bool { links.withLock { $0.details?.observers != nil } }
}

extension OperationQueue {
  /// Whether there is a list of observers.
  var keepsObservers: Bool { state.withLock { $0.observers != nil } }
}
