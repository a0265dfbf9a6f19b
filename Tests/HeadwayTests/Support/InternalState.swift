import Synchronization

@testable import Headway

extension Headway.Operation {
  /// Whether a list of observers exists.
  var keepsObservers: Bool { links.withLock { $0.observers != nil } }
}

extension OperationQueue {
  /// Whether a list of observers exists.
  var keepsObservers: Bool { state.withLock { $0.followers.observers != nil } }
}

extension Resource {
  /// Whether no operation uses the resource or waits for it.
  var isUnused: Bool {
    ResourceTable.shared.withLock { _ in
      open()
      defer { closeIfUnused() }
      return exclusiveHolder == nil && holders.isEmpty && exclusive.first == nil && shared.first == nil
    }
  }

  /// How many resources have names that begin with `prefix`.
  static func count(withPrefix prefix: String) -> Int {
    known.withLock { known in known.keys.count { $0.hasPrefix(prefix) } }
  }
}
