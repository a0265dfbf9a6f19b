/// An operation that is known and not owned, and that may be freed at any time.
struct WeakOperation: Hashable, @unchecked Sendable {  // A weak reference, which the runtime protects.
  private(set) weak var operation: Operation?
  /// Of the operation, or of one that has been freed: to compare without loading the reference, since a strong
  /// reference must not be dropped under a lock.
  let identity: ObjectIdentifier

  init(_ operation: Operation) {
    self.operation = operation
    identity = ObjectIdentifier(operation)
  }

  /// To look one up that may be about to be freed, of which there can't be a weak reference.
  init(identityOf reference: OperationReference) {
    identity = reference._withUnsafeGuaranteedRef { ObjectIdentifier($0) }
  }

  static func == (one: WeakOperation, other: WeakOperation) -> Bool { one.identity == other.identity }

  func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
