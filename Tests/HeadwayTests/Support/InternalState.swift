import Synchronization

@testable import Headway

extension Headway.Operation {
  /// Whether a list of observers exists.
  var keepsObservers: Bool { links.withLock { $0.details?.rareDetails?.observers != nil } }
}

extension OperationQueue {
  /// Whether a list of observers exists.
  var keepsObservers: Bool { state.withLock { $0.observers != nil } }
}
