import Synchronization

extension Operation {
  /// What ``addDependency(_:)`` does.
  ///
  /// - Parameters:
  ///   - operation: The dependency.
  ///   - requiresSuccess: This operation requires it to succeed.
  /// - Returns: Whether the dependency had finished by then, and so can't be waited for.
  @discardableResult
  final func link(to operation: Operation, requiresSuccess: Bool = false) -> Bool {
    require(operation !== self, "\(self) was made to depend on itself: it would never be ready.")
    let (link, hadFinished) = Self.withLinks(of: self, and: operation) { links, theirs -> (Link, Bool) in
      // Whoever ends it from now on looks into its links.
      let hasFinished = operation.state.announceLink().phase == .finished
      if requiresSuccess, !hasFinished { theirs.madeDetails.successDependents.append(WeakOperation(self)) }
      // Of a long list's two ends, the other is mostly short.
      let isListed =
        links.dependencies.isLong && !hasFinished
        ? theirs.dependents.contains(OperationReference(self))
        : links.dependencies.contains(OperationReference(operation))
      guard !links.isClosed, !isListed else {
        return (.none, hasFinished)
      }
      // A finished dependency is listed and not counted.
      let before = hasFinished ? state.announceLink() : state.addDependency()
      guard let before, before.phase == .pending else {
        let word = state.current
        return (word.isCancelled || word.phase == .finished ? .none : .late, hasFinished)
      }
      links.dependencies.append(.passRetained(operation))
      if !hasFinished { theirs.dependents.append(OperationReference(self)) }
      return (before.isObserved ? .observed(links.dependenciesIfObserved) : .none, hasFinished)
    }
    switch link {
    case .none: break
    case .late:
      warnOnce(
        "addDependency(_:) on \(self), which has started: it is ignored. Add dependencies before it can start.",
        since: Self.hasWarnedOfLateDependency)
    case .observed(let dependencies):
      notify([ObservedChange(.dependencies, dependencies), ObservedChange(.isReady)])
    }
    if !hadFinished { raiseQuality(of: operation) }
    return hadFinished
  }

  private static let hasWarnedOfLateDependency = Atomic<Bool>(false)

  /// What is left to do when the locks are released.
  private enum Link {
    case none
    /// Notify the observers; with all dependencies, if some observe those.
    case observed([Operation]?)
    /// The operation had started: nothing was added.
    case late
  }

  /// What ``removeDependency(_:)`` does.
  final func unlink(from operation: Operation) {
    // It never depends on itself, and its lock can't be taken twice.
    guard operation !== self else { return }
    let (wasListed, wasWaitedFor, left) = Self.withLinks(of: self, and: operation) { links, theirs in
      guard links.dependencies.remove(OperationReference(operation)) else { return (false, false, [Operation]?.none) }
      theirs.details?.successDependents.removeAll { $0.identity == ObjectIdentifier(self) }
      // Whoever takes the entry out of the dependency's list counts down: this call, or the dependency as it finishes.
      let wasWaitedFor = theirs.dependents.remove(OperationReference(self))
      if wasWaitedFor { links.madeDetails.madeRarer.withdrawnWaits += 1 }
      return (true, wasWaitedFor, links.dependenciesIfObserved)
    }
    if wasListed { OperationReference(operation).release() }
    let word = wasWaitedFor ? state.dependencyFinished() : nil
    if let word, word.becameReady, word.isEnqueued || overridesIsReady { lastDependencyIsGone() }
    if wasListed { notifyIfObserved([ObservedChange(.dependencies, left), ObservedChange(.isReady)]) }
  }

  /// Changes the links of two operations at once.
  ///
  /// So one lists the other as a dependency exactly when that one, unfinished, lists it as a dependent, whatever other
  /// threads add and remove. Locks in the order of the addresses, which never deadlocks.
  @inline(__always)
  private static func withLinks<Answer: Sendable>(
    of operation: Operation, and dependency: Operation, _ change: (inout Links, inout Links) -> Answer
  ) -> Answer {
    // Beside the path of nearly all, so that this one counts no references.
    if Steward.isNeeded { return withLinksByProxy(of: operation, and: dependency, change) }
    if OperationReference(operation).toOpaque() < OperationReference(dependency).toOpaque() {
      return operation.links.withLockOnThisThread { links in
        dependency.links.withLockOnThisThread { theirs in change(&links, &theirs) }
      }
    }
    return dependency.links.withLockOnThisThread { theirs in
      operation.links.withLockOnThisThread { links in change(&links, &theirs) }
    }
  }

  // As `Guarded.withLockByProxy(_:)`.
  @inline(never) @_optimize(none)
  private static func withLinksByProxy<Answer: Sendable>(
    of operation: Operation, and dependency: Operation, _ change: (inout Links, inout Links) -> Answer
  ) -> Answer {
    if OperationReference(operation).toOpaque() < OperationReference(dependency).toOpaque() {
      return operation.links.withLock { links in dependency.links.withLock { theirs in change(&links, &theirs) } }
    }
    return dependency.links.withLock { theirs in operation.links.withLock { links in change(&links, &theirs) } }
  }

  /// Takes `dependent` out of the list; false if this operation has finished, and so has counted it down itself.
  final func removeDependent(_ dependent: Operation) -> Bool {
    links.withLock { $0.dependents.remove(OperationReference(dependent)) }
  }

  /// Counts down the dependents and closes the list; returns those that became ready, retained, of which their queues
  /// have to be told.
  ///
  /// The walk happens under the lock, since it is what keeps the dependents' memory valid; it calls nothing and takes
  /// no other lock.
  static func countDown(_ links: inout Links) -> ReadyDependents {
    links.isClosed = true
    var ready = ReadyDependents()
    links.dependents.takeAll().forEach { dependent in
      // Looking at it and counting it down through the unretained reference is safe by rule 2 of Links. It is retained,
      // by rule 3, before the count-down that makes it ready: after that, its queue may have run and freed it.
      dependent._withUnsafeGuaranteedRef { dependent in
        dependent.state.dependencyFinished { word in
          if word.becameReadyInQueue {
            ready.append(.passRetained(dependent))
          } else if word.becameReady, word.isObserved || dependent.overridesIsReady {
            // In no queue, so it may be being freed at this moment; a weak reference knows.
            if let operation = WeakOperation(dependent).operation { ready.append(.passRetained(operation)) }
          }
        }
      }
      // If it was cancelled in between, or given another dependency, its queue finds out.
    }
    return ready
  }

  /// Takes the dependencies out of their list here.
  final func takeDependencies() -> [Operation] {
    links.withLock { links in
      guard !links.dependencies.isEmpty else { return [] }
      let elements = links.dependencies.elements.map { $0.takeRetainedValue() }
      links.dependencies = IdentityList()
      return elements
    }
  }

  /// Takes this operation, which has finished, out of its dependencies' lists, and returns them.
  final func leaveDependencies() -> [Operation] {
    let dependencies = links.withLock { $0.dependencies.elements.map(\.operation) }
    for dependency in dependencies { _ = dependency.removeDependent(self) }
    return dependencies
  }

  /// Takes this operation out of its dependencies' lists, and those out of its own, and returns them.
  final func unlinkDependencies() -> [Operation] {
    let dependencies = takeDependencies()
    for dependency in dependencies { _ = dependency.removeDependent(self) }
    return dependencies
  }

  final func releaseDependenciesOfUnreferencedOperation() {
    guard state.current.isLinked else { return }
    ReleasedChain.release(unlinkDependencies())
  }
}

extension Operation.Links {
  /// All dependencies, if somebody observes them: a change carries them, since they may change again before they hear.
  fileprivate var dependenciesIfObserved: [Operation]? {
    details?.observers?.tellsDependencies == true ? dependencies.elements.map(\.operation) : nil
  }
}

extension OperationWord {
  /// After a count-down: that was the last dependency, and the queue has to be told. (A cancelled operation was ready
  /// before, and its queue knows.)
  fileprivate var becameReadyInQueue: Bool { becameReady && isEnqueued }

  /// After a count-down: that was the last dependency.
  fileprivate var becameReady: Bool { isReady && !isCancelled && phase == .pending }
}
