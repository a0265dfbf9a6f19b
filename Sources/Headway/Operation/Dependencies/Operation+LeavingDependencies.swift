import Synchronization

extension Operation {
  /// What ``removeDependency(_:)`` does.
  final func unlink(from operation: Operation) {
    // It never depends on itself, and its lock can't be taken twice.
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
    for _ in 0..<unlinking.waitCount { dependencyIsGone() }
    let isReady = unlinking.waitCount > 0 && state.current.isReady
    notifyIfObserved([
      ObservedChange(.dependencies, unlinking.left), isReady ? readinessChange : ObservedChange(.isReady),
    ])
  }

  /// What has come of removing a dependency.
  private struct Unlinking {
    /// The dependency is counting down its dependents at this moment: nothing was changed.
    var mustWait = false
    /// How often it was listed: more than once if two threads added it at the same moment.
    var count = 0
    /// How often it was waited for.
    var waitCount = 0
    /// The other dependencies, if they are observed.
    var left: [Operation]?
  }

  /// Under the locks of the links of both.
  private final func unlink(from operation: Operation, _ links: inout Links, _ theirs: inout Links) -> Unlinking {
    var unlinking = Unlinking()
    guard state.current.isEdged, state.announceSightOfDependencies() else { return unlinking }
    for (place, isUnlinked) in places(of: operation, links) {
      guard let edge = edge(at: place, links) else { continue }
      switch isUnlinked ? .isUnlinked : operation.take(edge, &theirs) {
      case .mustWait:
        // Which is so for the first or none.
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
    if unlinking.waitCount > 0 { links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.withdrawnWaits += 1 }
    unlinking.left = dependenciesIfObserved(&links)
    return unlinking
  }

  /// What has come of taking an edge out of the dependency's stack.
  private enum Taking {
    case wasTaken
    /// The dependency has counted it down, or has ended and will not.
    case isUnlinked
    /// It is not in the stack yet.
    case isBeingPushed
    /// The end of the dependency is counting down, without the lock.
    case mustWait
  }

  /// Takes the edge of a dependent out of the stack, and with it what the dependent requires.
  ///
  /// Under the lock of the links of this operation. If it has not ended, the thread that ends it takes that lock, too.
  private final func take(_ edge: Edge, _ links: inout Links) -> Taking {
    let word = state.announceLink()
    if word.phase == .finished {
      if dependents.isDone { return .isUnlinked }
      guard word.isLinked else { return .mustWait }
    }
    let details = links.detailsCreatedIfNeeded
    let rareDetails = details.rareDetailsCreatedIfNeeded
    dependents.takeAll { rareDetails.dependents.append($0) }
    guard rareDetails.dependents.remove(edge) else { return .isBeingPushed }
    details.successDependents?.remove(edge.dependent)
    return .wasTaken
  }

  /// Takes the edge of a dependent, which has finished or is freed, out of the stack.
  ///
  /// - Returns: Whether the edge is out; otherwise it is being pushed.
  private final func takeOut(_ edge: Edge) -> Bool {
    while true {
      switch links.withLock({ take(edge, &$0) }) {
      case .wasTaken, .isUnlinked: return true
      case .isBeingPushed: return false
      case .mustWait: dependents.awaitDone()
      }
    }
  }

  /// Changes the links of two operations at once.
  ///
  /// Locks in the order of the addresses, which never deadlocks.
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

  /// Takes this operation, which has finished before them, out of its dependencies' stacks, and returns them.
  final func leaveDependencies() -> [Operation] {
    // With the check of a thread that has pushed an edge meanwhile: one of both finds the other (DependentStack).
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let listed = links.withLock { links in
      self.listed(links).map {
        (place: $0.place, edge: $0.isUnlinked ? nil : edge(at: $0.place, links), $0.dependency.operation)
      }
    }
    // Not those that had finished before they were added, which may never close their stacks.
    let out = listed.filter { _, edge, dependency in edge.map { dependency.takeOut($0) } ?? false }
    links.withLock { links in
      for (place, _, _) in out { markOut(place, &links) }
    }
    return listed.map(\.2)
  }

  /// Takes an edge that the calling thread has pushed, or tried to, out of the dependency's stack, since this operation
  /// has ended meanwhile.
  final func leave(_ dependency: Operation, _ edge: Edge) {
    guard dependency.takeOut(edge) else { return }
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
    // Nobody else has a reference; but a dependency may be counting down at this moment.
    let listed = links.withLock { links -> [(OperationReference, Edge?, isUnlinked: Bool)] in
      self.listed(links).map { ($0.dependency, edge(at: $0.place, links), $0.isUnlinked) }
    }
    for case (let dependency, let edge?, false) in listed where word.unfinishedDependencies > 0 {
      let isUnlinked = dependency._withUnsafeGuaranteedRef { $0.takeOut(edge) }
      assert(isUnlinked, "an operation is freed while a dependency is added")
    }
    ReleasedChain.release(listed.map { $0.0.takeRetainedValue() })
  }
}
