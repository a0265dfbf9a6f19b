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
    if requiresSuccess { operation.addSuccessDependent(self) }
    // Any thread that ends it from now on closes its stack.
    var hasFinished = operation.state.announceEdges().phase == .finished
    let link = hasFinished ? list(finished: operation) : wait(for: operation, &hasFinished)
    switch link {
    case .none: break
    case .late:
      warnOnce(
        "addDependency(_:) on \(self), which has started: it is ignored. Add dependencies before it can start.",
        since: Self.hasWarnedOfLateDependency)
    case .observed:
      notify([ObservedChange(.dependencies, links.withLock { dependenciesIfObserved(&$0) }), ObservedChange(.isReady)])
    }
    // Too late: it waits for nothing, and so would not be taken out again.
    if requiresSuccess, state.current.phase != .pending { operation.removeSuccessDependent(self) }
    if !hasFinished { raiseQuality(of: operation) }
    return hasFinished
  }

  private static let hasWarnedOfLateDependency = Atomic<Bool>(false)

  /// What is left to do when a dependency was added.
  private enum Link {
    case none
    /// Notify the observers.
    case observed
    /// The operation had started: nothing was added.
    case late

    init(before word: OperationWord) { self = word.isObserved ? .observed : .none }

    init(late word: OperationWord) { self = word.isCancelled || word.phase == .finished ? .none : .late }
  }

  /// Lists a dependency, has it count this operation down at its end, and counts it.
  ///
  /// - Parameters:
  ///   - operation: The dependency.
  ///   - hasFinished: Set if it has finished meanwhile.
  /// - Returns: What is left to do.
  private final func wait(for operation: Operation, _ hasFinished: inout Bool) -> Link {
    guard !isInSlot(operation) else { return .none }
    let edge: Edge
    let before: OperationWord
    let isPushed: Bool
    // Counted, then listed, then pushed: so whatever ends this operation meanwhile finds that it waits for something.
    switch state.claimSlot(isCounted: true) {
    case .slot(let number, let word):
      fill(number, with: operation, isUnlinked: false)
      (edge, before) = (Edge(slot: number, of: self), word)
      isPushed = operation.dependents.push(edge)
    case .full:
      // Pushed under the lock: so another thread that adds the same finds it listed.
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
      dependencyIsGone()
    }
    // It has ended though it waited, and may have passed the edge over, which was not in the stack.
    let word = state.currentInOrder
    if word.phase == .finished, word.dependenciesWereSeen { leave(operation, edge) }
    return Link(before: before)
  }

  /// Lists a dependency that has finished.
  private final func list(finished operation: Operation) -> Link {
    links.withLock { links in
      guard state.announceSightOfDependencies() else { return .none }
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

    /// What is left to do where nothing is to be pushed.
    var otherwise: Link {
      switch self {
      case .listed(_, let word): Link(before: word)
      case .other(let link): link
      }
    }
  }

  /// Under the lock of the links.
  private final func listFurther(_ operation: Operation, isCounted: Bool, _ links: inout Links) -> FurtherLink {
    guard state.announceSightOfDependencies() else { return .other(.none) }
    let reference = OperationReference(operation)
    // An operation on which none has ever depended is mostly known as that.
    let isNew = isCounted && operation.dependents.isEmpty && !operation.state.current.isLinked
    if !isNew, links.furtherDependencies?.position(of: reference) != nil { return .other(.none) }
    guard let before = state.addDependency(isCounted: isCounted) else {
      return .other(Link(late: state.current))
    }
    return .listed(links.madeFurtherDependencies.append(reference.retain(), of: self, isUnlinked: !isCounted), before)
  }

  /// Lists a dependency in a slot; its edge is out if it has finished, since it may never close its stack.
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

  /// Notes that `dependent` requires this operation to succeed, if it has not finished.
  private final func addSuccessDependent(_ dependent: Operation) {
    links.withLock { links in
      guard state.announceLink().phase != .finished else { return }
      let details = links.detailsCreatedIfNeeded
      let dependents = details.successDependents ?? SuccessDependents()
      dependents.insert(dependent)
      details.successDependents = dependents
    }
  }

  private final func removeSuccessDependent(_ dependent: Operation) {
    links.withLock { $0.details?.successDependents?.remove(OperationReference(dependent)) }
  }

  /// A dependency is no longer waited for, which did not count this operation down.
  ///
  /// Called with no lock held.
  final func dependencyIsGone() {
    let word = state.dependencyFinished()
    if word.becameReady, word.isEnqueued || overridesIsReady { lastDependencyIsGone() }
  }
}
