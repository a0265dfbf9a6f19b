extension Operation {
  /// Whether the start and the end of the operation run no code of a subclass.
  final var isPlainBlock: Bool { type(of: self) == BlockOperation.self }

  /// Whether releasing the last reference to it can run user code: it belongs to a subclass, or holds user objects.
  final var runsUserCodeWhenFreed: Bool { !(isPlainBlock || isFreedPlainly) || state.current.hasUserObjects }

  /// Whether the operation can be in a batch.
  ///
  /// Such an operation starts with ``main()``. It ends when `main()` returns, or when Headway ends it. No other code of
  /// a subclass runs then. If it has a policy, the policy has only resources or only a key, and it ends in `main()`.
  final var fitsBatch: Bool {
    if isPlainBlock { return gateKind != .other }
    guard gateKind != .other, !OperationOverrides.hasStart(type(of: self)) else { return false }
    return endsWithMain || (mayEndLater && gateKind == .none)
  }

  /// Whether the operation may have to leave a batch: it can end after ``main()``, or it needs resources.
  final var mayLeaveBatch: Bool { hasGate || mayEndLater }

  /// Whether the operation is ready without evaluating an override of `isReady`.
  ///
  /// Such an operation can be added through the inbox, unless its policy holds it back.
  final var isReadyUnasked: Bool { isPlainBlock || !overridesIsReady }

  /// Whether both are true: a batch can continue with the operation.
  final var startsUnasked: Bool { !hasGate && (isPlainBlock || (fitsBatch && isReadyUnasked)) }
}
