/// A reference to an operation that does not own it.
///
/// The operation can be freed at any time.
struct WeakOperation: Hashable, @unchecked Sendable {  // A weak reference, which the runtime protects.
  private(set) weak var operation: Operation?
  /// The identity of the operation, which may have been freed.
  ///
  /// It is compared instead of the weak reference, because loading that creates a strong reference, which must not be
  /// released under a lock.
  let identity: ObjectIdentifier

  init(_ operation: Operation) {
    self.operation = operation
    identity = ObjectIdentifier(operation)
  }

  /// Creates a value to look up an operation that may be about to be freed.
  ///
  /// A weak reference to such an operation can't be created.
  init(identityOf reference: OperationReference) {
    identity = reference._withUnsafeGuaranteedRef { ObjectIdentifier($0) }
  }

  static func == (one: WeakOperation, other: WeakOperation) -> Bool { one.identity == other.identity }

  func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
