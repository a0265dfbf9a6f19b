import Synchronization

extension Operation {
  /// The operations that must finish before this one is ready, in the order in which they were added.
  ///
  /// Empty once this operation has finished: it has let go of them.
  ///
  /// - Complexity: O(*n*) in their number.
  public final var dependencies: [Operation] { links.withLock { $0.dependencies.elements } }

  /// Makes this operation wait until `operation` has finished, whether that succeeds, fails or is cancelled.
  ///
  /// The two may be in different queues, or in none. Adding a finished operation, or the same one twice, is harmless.
  /// Operations that depend on each other in a circle never run, until one of them is cancelled.
  ///
  /// - Parameter operation: The operation to wait for.
  /// - Precondition: `operation` is not this operation.
  /// - Precondition: This operation has not started (looked at in debug builds; in release builds a late dependency is
  ///   ignored).
  /// - Complexity: O(1).
  public final func addDependency(_ operation: Operation) {
    require(operation !== self, "\(self) was made to depend on itself: it would never be ready.")
    Self.withLinks(of: self, and: operation) { links, theirs in
      guard !links.isClosed, !links.dependencies.contains(operation.address) else { return }
      // A finished dependency is listed and not counted.
      guard theirs.isClosed ? state.current.phase == .pending : state.addDependency() else {
        let word = state.current
        assert(
          word.isCancelled || word.phase == .finished,
          "addDependency(_:) on an operation that has started: add dependencies before the operation can start.")
        return
      }
      links.dependencies.append(operation)
      if !theirs.isClosed { theirs.dependents.append(UnownedOperation(self)) }
    }
  }

  /// Stops waiting for `operation`.
  ///
  /// Removing one that is not a dependency is harmless. If it was the last that had not finished, this operation is
  /// ready.
  ///
  /// - Parameter operation: The operation that is no longer waited for.
  /// - Complexity: O(1).
  public final func removeDependency(_ operation: Operation) {
    let wasWaitedFor = Self.withLinks(of: self, and: operation) { links, theirs in
      guard links.dependencies.remove(operation.address) != nil else { return false }
      // Whoever takes the entry out of the dependency's list counts down: this call, or the dependency as it finishes.
      return theirs.dependents.remove(address) != nil
    }
    if wasWaitedFor { dependencyHasEnded() }
  }

  /// Changes the links of two operations at once.
  ///
  /// So one lists the other as a dependency exactly when that one, unfinished, lists it as a dependent, whatever other
  /// threads add and remove. Locks in the order of the addresses, which never deadlocks.
  private static func withLinks<Answer: Sendable>(
    of operation: Operation, and dependency: Operation, _ change: (inout Links, inout Links) -> Answer
  ) -> Answer {
    if operation.address < dependency.address {
      operation.links.withLock { links in dependency.links.withLock { theirs in change(&links, &theirs) } }
    } else {
      dependency.links.withLock { theirs in operation.links.withLock { links in change(&links, &theirs) } }
    }
  }

  /// Takes `dependent` out of the list; false if this operation has finished, and so has counted it down itself.
  final func removeDependent(_ dependent: Operation) -> Bool {
    links.withLock { $0.dependents.remove(dependent.address) } != nil
  }

  /// Counts down, outside every lock, and tells the queue if that made this operation ready.
  private func dependencyHasEnded() {
    let word = state.dependencyFinished()
    if word.becameReadyInQueue { tellQueueReady() }
  }

  final func tellQueueReady() {
    links.withLock { $0.queue }?.operationBecameReady(self)
  }

  /// Counts down the dependents and closes the list; returns those that became ready in their queues.
  ///
  /// The walk happens under the lock, since it is what keeps the dependents' memory valid; it calls nothing and takes
  /// no other lock.
  static func countDown(_ links: inout Links) -> [Operation] {
    links.isClosed = true
    guard !links.dependents.isEmpty else { return [] }
    var ready: [Operation] = []
    for dependent in links.dependents.elements {
      // Looking at it and counting it down through the unretained reference is safe by rule 2 of Links. It is retained,
      // by rule 3, before the count-down that makes it ready: after that, its queue may have run and freed it.
      var retained: Operation?
      dependent.reference._withUnsafeGuaranteedRef { dependent in
        dependent.state.dependencyFinished { word in
          if word.becameReadyInQueue { retained = dependent }
        }
      }
      // If it was cancelled in between, or given another dependency, its queue finds out.
      if let retained { ready.append(retained) }
    }
    links.dependents = IdentityList()
    return ready
  }

  /// Lets go of operations that were dependencies, and of what only they held, in a loop: a chain of a million would
  /// overflow the stack if each freed the next.
  ///
  /// - Parameter operations: Consumed, since a second reference to the array would hide who else holds its elements.
  static func release(_ operations: consuming [Operation]) {
    while var last = operations.popLast() {
      guard isKnownUniquelyReferenced(&last) else { continue }
      // Nobody else holds it, so this is its deinitialisation, done here for its dependencies.
      operations.append(contentsOf: last.unlinkDependencies())
    }
  }

  /// Takes the dependencies out of their list here.
  final func takeDependencies() -> [Operation] {
    links.withLock { links in
      guard !links.dependencies.isEmpty else { return [] }
      let elements = links.dependencies.elements
      links.dependencies = IdentityList()
      return elements
    }
  }

  /// Takes this operation out of its dependencies' lists, and returns them.
  final func unlinkDependencies() -> [Operation] {
    let dependencies = takeDependencies()
    for dependency in dependencies { _ = dependency.removeDependent(self) }
    return dependencies
  }

  final func releaseDependenciesOfUnreferencedOperation() { Self.release(unlinkDependencies()) }
}

extension OperationWord {
  /// After a count-down: that was the last dependency, and the queue has to be told. (A cancelled operation was ready
  /// before, and its queue knows.)
  fileprivate var becameReadyInQueue: Bool {
    unfinishedDependencies == 0 && isEnqueued && !isCancelled && phase == .pending
  }
}
