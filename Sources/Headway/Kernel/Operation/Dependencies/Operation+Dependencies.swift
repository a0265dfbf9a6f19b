import Synchronization

extension Operation {
  /// Implements ``addDependency(_:)``.
  ///
  /// - Parameters:
  ///   - operation: The dependency to add. It can have finished.
  ///   - requiresSuccess: True if this operation requires the dependency to succeed.
  /// - Returns: True if the dependency had already finished, so this operation can't wait for it.
  @discardableResult
  final func link(to operation: Operation, requiresSuccess: Bool = false) -> Bool {
    require(operation !== self, "\(self) can't depend on itself: it would never be ready.")
    if requiresSuccess { operation.addSuccessDependent(self) }
    // Any thread that ends the dependency from now on closes its stack.
    var hasFinished = operation.state.announceEdges().phase == .finished
    let link = hasFinished ? list(finished: operation) : wait(for: operation, &hasFinished)
    noteLink(to: operation)
    switch link {
    case .none: break
    case .late:
      warnOnce(
        "addDependency(_:) on \(self), which has started: it is ignored. Add dependencies before it can start.",
        since: Self.hasWarnedOfLateDependency)
    case .observed:
      notify([ObservedChange(.dependencies, links.withLock { dependenciesIfObserved(&$0) }), ObservedChange(.isReady)])
    }
    // If this operation has started, it waits for nothing, so the requirement would never be removed.
    if requiresSuccess, state.current.phase != .pending { operation.removeSuccessDependent(self) }
    if !hasFinished { raiseQuality(of: operation) }
    return hasFinished
  }

  private static let hasWarnedOfLateDependency = Atomic<Bool>(false)

  /// The step that remains after a dependency was added.
  private enum Link {
    case none
    /// Notify the observers.
    case observed
    /// The operation had started, so nothing was added.
    case late

    init(before word: OperationWord) { self = word.isObserved ? .observed : .none }

    init(late word: OperationWord) { self = word.isCancelled || word.phase == .finished ? .none : .late }
  }

  /// Lists a dependency, counts it, and registers this operation to be counted down when the dependency ends.
  ///
  /// - Parameters:
  ///   - operation: The dependency to wait for.
  ///   - hasFinished: Set to true if the dependency has finished in the meantime.
  /// - Returns: The step that remains.
  private final func wait(for operation: Operation, _ hasFinished: inout Bool) -> Link {
    guard !isInSlot(operation) else { return .none }
    let edge: Edge
    let before: OperationWord
    let isPushed: Bool
    // Counted first, then listed, then pushed. A thread that finishes this operation in the meantime therefore finds
    // that it has an unfinished dependency.
    switch state.claimSlot(isCounted: true) {
    case .slot(let number, let word):
      fill(number, with: operation, isUnlinked: false)
      (edge, before) = (Edge(slot: number, of: self), word)
      isPushed = operation.dependents.push(edge)
    case .full:
      // Pushed under the lock, so another thread that adds the same dependency finds it listed.
      var wasPushed = false
      let link = links.withLock { links -> FurtherLink in
        let link = listFurther(operation, isCounted: true, &links)
        if case .listed(let edge, _) = link { wasPushed = operation.dependents.push(edge) }
        return link
      }
      guard case .listed(let further, let word) = link else { return link.otherwise }
      (edge, before, isPushed) = (further, word, wasPushed)
    case .late(let word):
      return Link(late: word)
    }
    if !isPushed {
      hasFinished = true
      dependencyFinished()
    }
    // This operation has ended before its dependency. The thread that ended it may have missed the edge, which was not
    // in the stack.
    let word = state.currentInOrder
    if word.phase == .finished, word.dependenciesWereRead { leave(operation, edge) }
    return Link(before: before)
  }

  /// Lists a dependency that has finished.
  private final func list(finished operation: Operation) -> Link {
    links.withLock { links in
      guard state.announceReadOfDependencies() else { return .none }
      guard !isInSlot(operation) else { return .none }
      switch state.claimSlot(isCounted: false) {
      case .slot(let number, let word):
        fill(number, with: operation, isUnlinked: true)
        return Link(before: word)
      case .full:
        return listFurther(operation, isCounted: false, &links).otherwise
      case .late(let word):
        return Link(late: word)
      }
    }
  }

  private enum FurtherLink {
    case listed(Edge, OperationWord)
    case other(Link)

    /// The step that remains if no edge must be pushed.
    var otherwise: Link {
      switch self {
      case .listed(_, let word): Link(before: word)
      case .other(let link): link
      }
    }
  }

  /// Called under the lock of the links.
  private final func listFurther(_ operation: Operation, isCounted: Bool, _ links: inout Links) -> FurtherLink {
    guard state.announceReadOfDependencies() else { return .other(.none) }
    let reference = OperationReference(operation)
    // An operation that never had a dependent can't be in the list. Usually this is known from its state.
    let isNew = isCounted && operation.dependents.isEmpty && !operation.state.current.isLinked
    if !isNew, links.furtherDependencies?.position(of: reference) != nil { return .other(.none) }
    guard let before = state.addDependency(isCounted: isCounted) else {
      return .other(Link(late: state.current))
    }
    return .listed(
      links.furtherDependenciesCreatedIfNeeded.append(reference.retain(), of: self, isUnlinked: !isCounted), before)
  }

  /// Lists a dependency in a slot.
  ///
  /// If the dependency has finished, its edge is unlinked, because the dependency may never close its stack.
  private final func fill(_ slot: Int, with dependency: Operation, isUnlinked: Bool) {
    let address = UInt(bitPattern: OperationReference(dependency).retain().toOpaque())
    withSlot(slot) { $0.dependency.store(address | (isUnlinked ? 1 : 0), ordering: .releasing) }
  }

  private final func isInSlot(_ dependency: Operation) -> Bool {
    let address = UInt(bitPattern: OperationReference(dependency).toOpaque())
    return firstSlot.dependency.load(ordering: .relaxed) & ~1 == address
      || secondSlot.dependency.load(ordering: .relaxed) & ~1 == address
      || thirdSlot.dependency.load(ordering: .relaxed) & ~1 == address
  }

  /// Records that `dependent` requires this operation to succeed, if this operation has not finished.
  private final func addSuccessDependent(_ dependent: Operation) {
    links.withLock { links in
      guard state.announceLink().phase != .finished else { return }
      let details = links.detailsCreatedIfNeeded
      let dependents = details.pointee.successDependents ?? SuccessDependents()
      dependents.insert(dependent)
      details.pointee.successDependents = dependents
    }
  }

  private final func removeSuccessDependent(_ dependent: Operation) {
    links.withLock { $0.details?.pointee.successDependents?.remove(OperationReference(dependent)) }
  }

  /// Counts down this operation for a dependency that it no longer waits for, and that did not count it down.
  ///
  /// Called with no lock held.
  final func dependencyFinished() {
    let word = state.dependencyFinished()
    if word.becameReady, word.isEnqueued || overridesIsReady { lastDependencyFinished() }
  }
}
