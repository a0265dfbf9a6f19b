import Synchronization

extension Operation {
  /// Implements ``removeDependency(_:)``.
  final func unlink(from operation: Operation) {
    // An operation never depends on itself, and its lock can't be taken twice.
    guard operation !== self else { return }
    var unlinking = Unlinking()
    while true {
      unlinking = Self.withLinks(of: self, and: operation) { links, theirs in
        unlink(from: operation, &links, &theirs)
      }
      guard unlinking.mustWait else { break }
      operation.dependents.awaitDone()
    }
    guard unlinking.count > 0 else { return }
    for _ in 0..<unlinking.count { OperationReference(operation).release() }
    for _ in 0..<unlinking.waitCount { dependencyFinished() }
    let isReady = unlinking.waitCount > 0 && state.current.isReady
    notifyIfObserved([
      ObservedChange(.dependencies, unlinking.left), isReady ? readinessChange : ObservedChange(.isReady),
    ])
  }

  /// The result of removing a dependency.
  private struct Unlinking {
    /// The dependency is counting down its dependents at this moment, so nothing was changed.
    var mustWait = false
    /// The number of times that the dependency was listed.
    ///
    /// More than one if two threads added it at the same moment.
    var count = 0
    /// The number of times that it was still counted as unfinished.
    var waitCount = 0
    /// The remaining dependencies, if they are observed.
    var left: [Operation]?
  }

  /// Called under the locks of the links of both operations.
  private final func unlink(from operation: Operation, _ links: inout Links, _ theirs: inout Links) -> Unlinking {
    var unlinking = Unlinking()
    guard state.current.isEdged, state.announceReadOfDependencies() else { return unlinking }
    for (place, isUnlinked) in places(of: operation, links) {
      guard let edge = edge(at: place, links) else { continue }
      switch isUnlinked ? .isUnlinked : operation.take(edge, &theirs) {
      case .mustWait:
        // This can happen only for the first edge.
        unlinking.mustWait = true
        return unlinking
      case .isBeingPushed: continue
      case .isUnlinked: break
      case .wasTaken: unlinking.waitCount += 1
      }
      unlinking.count += 1
      empty(place, &links)
    }
    guard unlinking.count > 0 else { return unlinking }
    if unlinking.waitCount > 0 { links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.withdrawnWaits += 1 }
    unlinking.left = dependenciesIfObserved(&links)
    return unlinking
  }

  /// The result of removing an edge from the dependency's stack.
  private enum Taking {
    case wasTaken
    /// The dependency has counted it down, or has ended and will not count it down.
    case isUnlinked
    /// It is not yet in the stack.
    case isBeingPushed
    /// The thread that ended the dependency is counting down without the lock.
    case mustWait
  }

  /// Removes the edge of a dependent from the stack, and the dependent's requirement with it.
  ///
  /// Called under the lock of the links of this operation. If this operation has not ended, the thread that ends it
  /// also takes that lock.
  private final func take(_ edge: Edge, _ links: inout Links) -> Taking {
    let word = state.announceLink()
    if word.phase == .finished {
      if dependents.isDone { return .isUnlinked }
      guard word.isLinked else { return .mustWait }
    }
    let details = links.detailsCreatedIfNeeded
    let rareDetails = details.pointee.rareDetailsCreatedIfNeeded
    dependents.takeAll { rareDetails.dependents.append($0) }
    guard rareDetails.dependents.remove(edge) else { return .isBeingPushed }
    details.pointee.successDependents?.remove(edge.dependent)
    return .wasTaken
  }

  /// Removes the edge of a dependent, which has finished or is being freed, from the stack.
  ///
  /// - Returns: True if the edge is unlinked; false if it is being pushed.
  private final func removeEdge(_ edge: Edge) -> Bool {
    while true {
      switch links.withLock({ take(edge, &$0) }) {
      case .wasTaken, .isUnlinked: return true
      case .isBeingPushed: return false
      case .mustWait: dependents.awaitDone()
      }
    }
  }

  /// Changes the links of two operations together.
  ///
  /// Takes the locks in address order, so it never deadlocks.
  @inline(__always)
  private static func withLinks<Answer: Sendable>(
    of operation: Operation, and dependency: Operation, _ change: (inout Links, inout Links) -> Answer
  ) -> Answer {
    if OperationReference(operation).toOpaque() < OperationReference(dependency).toOpaque() {
      return operation.links.withLock { links in dependency.links.withLock { theirs in change(&links, &theirs) } }
    }
    return dependency.links.withLock { theirs in operation.links.withLock { links in change(&links, &theirs) } }
  }

  // MARK: Before the dependencies end

  /// Removes the edges of this operation, which has finished before its dependencies, from their stacks, and returns
  /// the dependencies.
  final func leaveDependencies() -> [Operation] {
    // Pairs with the check of a thread that has pushed an edge in the meantime: at least one of the two finds the other
    // (``DependentStack``).
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let listed = links.withLock { links in
      self.listed(links).map {
        (place: $0.place, edge: $0.isUnlinked ? nil : edge(at: $0.place, links), $0.dependency.operation)
      }
    }
    // Dependencies that had finished before they were added are omitted, because they may never close their stacks.
    let out = listed.filter { _, edge, dependency in edge.map { dependency.removeEdge($0) } ?? false }
    links.withLock { links in
      for (place, _, _) in out { markUnlinked(place, &links) }
    }
    return listed.map(\.2)
  }

  /// Removes an edge that the calling thread has pushed, or tried to push, from the dependency's stack, because this
  /// operation has ended in the meantime.
  final func leave(_ dependency: Operation, _ edge: Edge) {
    guard dependency.removeEdge(edge) else { return }
    let isReleased = links.withLock { links -> Bool in
      for (place, _) in places(of: dependency, links) where self.edge(at: place, links) == edge {
        empty(place, &links)
        return true
      }
      return false
    }
    if isReleased { OperationReference(dependency).release() }
  }

  final func releaseDependenciesOfUnreferencedOperation() {
    let word = state.current
    guard word.mayHaveDependencies else { return }
    // No other thread has a reference, but a dependency may be counting down at this moment.
    let listed = links.withLock { links -> [(OperationReference, Edge?, isUnlinked: Bool)] in
      self.listed(links).map { ($0.dependency, edge(at: $0.place, links), $0.isUnlinked) }
    }
    for case (let dependency, let edge?, false) in listed where word.unfinishedDependencies > 0 {
      let isUnlinked = dependency._withUnsafeGuaranteedRef { $0.removeEdge(edge) }
      assert(isUnlinked, "an operation is freed while a dependency is added")
    }
    ReleasedChain.release(listed.map { $0.0.takeRetainedValue() })
  }
}
