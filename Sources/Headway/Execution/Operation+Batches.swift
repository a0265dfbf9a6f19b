extension Operation {
  /// Nothing of a subclass's happens when it starts and ends.
  final var isPlainBlock: Bool { type(of: self) == BlockOperation.self }

  /// Whether releasing the last reference to it may run users' code: it is of a subclass, or has objects of users'.
  final var runsUserCodeWhenFreed: Bool { !(isPlainBlock || isFreedPlainly) || state.current.hasUserObjects }

  /// Whether it may go into a batch.
  ///
  /// It starts with ``main()``, it ends when that returns or by a call of the library's, and nothing else of a
  /// subclass's happens then.
  final var fitsBatch: Bool {
    isPlainBlock || (!OperationOverrides.hasStart(type(of: self)) && (endsWithMain || mayEndLater))
  }

  /// Whether nobody has to be asked whether it is ready: it may come in by way of an inbox.
  final var isReadyUnasked: Bool { isPlainBlock || !overridesIsReady }

  /// Whether both is so: a batch may continue with it.
  final var startsUnasked: Bool { isPlainBlock || (fitsBatch && isReadyUnasked) }
}
