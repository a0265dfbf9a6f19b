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
      fill(number, with: operation, isOut: false)
      (edge, before) = (Edge(slot: number, of: self), word)
      isPushed = operation.dependents.push(edge)
    case .full:
      // Pushed under the lock: so another thread that adds the same finds it listed.
      let link = links.withLock { links -> FurtherLink in
        let link = listFurther(operation, isCounted: true, &links)
        guard case .listed(let edge, let word, _) = link else { return link }
        return .listed(edge, word, isPushed: operation.dependents.push(edge))
      }
      guard case .listed(let further, let word, let wasPushed) = link else { return link.otherwise }
      (edge, before, isPushed) = (further, word, wasPushed)
    case .late(let word):
      return Link(late: word)
    }
    if !isPushed {
      hasFinished = true
      dependencyIsGone()
    }
    // It has ended though it waited, and may have passed the edge over, which was not in the stack.
    let word = state.current
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
        fill(number, with: operation, isOut: true)
        return Link(before: word)
      case .full:
        return listFurther(operation, isCounted: false, &links).otherwise
      case .late(let word):
        return Link(late: word)
      }
    }
  }

  private enum FurtherLink {
    case listed(Edge, OperationWord, isPushed: Bool)
    case other(Link)

    /// What is left to do where nothing is to be pushed.
    var otherwise: Link {
      switch self {
      case .listed(_, let word, _): Link(before: word)
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
    return .listed(
      links.madeFurtherDependencies.append(reference.retain(), of: self, isOut: !isCounted), before,
      isPushed: false)
  }

  /// Lists a dependency in a slot; its edge is out if it has finished, since it may never close its stack.
  private final func fill(_ slot: Int, with dependency: Operation, isOut: Bool) {
    let address = UInt(bitPattern: OperationReference(dependency).retain().toOpaque())
    withSlot(slot) { $0.dependency.store(address | (isOut ? 1 : 0), ordering: .releasing) }
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
      links.madeDetails.successDependents.append(WeakOperation(dependent))
    }
  }

  /// A dependency is no longer waited for, which did not count this operation down.
  ///
  /// Called with no lock held.
  private final func dependencyIsGone() {
    let word = state.dependencyFinished()
    if word.becameReady, word.isEnqueued || overridesIsReady { lastDependencyIsGone() }
  }

  // MARK: Looking at the dependencies

  /// The dependencies, in the order in which they were added.
  ///
  /// Under the lock of the links.
  final func listedDependencies(_ links: inout Links) -> [Operation] {
    guard state.current.isEdged, state.announceSightOfDependencies() else { return [] }
    var listed: [Operation] = []
    forEachListed(links) { dependency, _, _ in
      // Two threads that add the same at once may not see each other.
      let isTwice = listed.prefix(DependencySlot.count).contains { $0 === dependency.takeUnretainedValue() }
      if !isTwice { listed.append(dependency.takeUnretainedValue()) }
    }
    return listed
  }

  /// All dependencies, if somebody observes them: a change carries them, since they may change again before they hear.
  private final func dependenciesIfObserved(_ links: inout Links) -> [Operation]? {
    links.details?.observers?.tellsDependencies == true ? listedDependencies(&links) : nil
  }

  /// Where an operation lists a dependency.
  private enum Place {
    case slot(Int)
    case further(Int)
  }

  /// Calls `body` with each dependency, in the order of adding, and whether its edge is out.
  ///
  /// Under the lock of the links, after the sight of the dependencies was announced; or where no other thread is at
  /// them.
  private final func forEachListed(_ links: borrowing Links, _ body: (OperationReference, Place, _ isOut: Bool) -> Void)
  {
    for number in 0..<DependencySlot.count {
      let word = withSlot(number) { $0.dependency.load(ordering: .acquiring) }
      guard let dependency = UnsafeRawPointer(bitPattern: word & ~1) else { continue }
      body(.fromOpaque(dependency), .slot(number), word & 1 != 0)
    }
    links.furtherDependencies?.forEach { dependency, position, isOut in body(dependency, .further(position), isOut) }
  }

  private final func edge(at place: Place, _ links: borrowing Links) -> Edge? {
    switch place {
    case .slot(let number): Edge(slot: number, of: self)
    case .further(let position): links.furtherDependencies?.edge(at: position)
    }
  }

  /// Gives up the ownership of a dependency, whose edge is out.
  private final func empty(_ place: Place, _ links: inout Links) {
    switch place {
    case .slot(let number): withSlot(number) { $0.dependency.store(0, ordering: .relaxed) }
    case .further(let position): links.furtherDependencies?.remove(at: position)
    }
  }

  /// Marks an edge as out, unless another thread has emptied the place meanwhile.
  private final func markOut(_ place: Place, _ links: inout Links) {
    switch place {
    case .slot(let number):
      withSlot(number) { slot in
        let dependency = slot.dependency.load(ordering: .acquiring)
        if dependency != 0 { slot.dependency.store(dependency | 1, ordering: .relaxed) }
      }
    case .further(let position): links.furtherDependencies?.markOut(at: position)
    }
  }

  // MARK: Removing

  /// What ``removeDependency(_:)`` does.
  final func unlink(from operation: Operation) {
    // It never depends on itself, and its lock can't be taken twice.
    guard operation !== self else { return }
    var unlinking = Unlinking()
    while true {
      unlinking = Self.withLinks(of: self, and: operation) { links, theirs in
        unlink(from: operation, &links, &theirs)
      }
      guard unlinking.hasToWait else { break }
      operation.dependents.awaitDone()
    }
    guard unlinking.count > 0 else { return }
    for _ in 0..<unlinking.count { OperationReference(operation).release() }
    for _ in 0..<unlinking.waitCount { dependencyIsGone() }
    notifyIfObserved([ObservedChange(.dependencies, unlinking.left), ObservedChange(.isReady)])
  }

  /// What has come of removing a dependency.
  private struct Unlinking {
    /// The dependency is counting down its dependents at this moment: nothing was changed.
    var hasToWait = false
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
    for (place, isOut) in places(of: operation, links) {
      guard let edge = edge(at: place, links) else { continue }
      switch isOut ? .isOut : operation.take(edge, &theirs) {
      case .hasToWait:
        // Which is so for the first or none.
        unlinking.hasToWait = true
        return unlinking
      case .isBeingPushed: continue
      case .isOut: break
      case .wasTaken: unlinking.waitCount += 1
      }
      unlinking.count += 1
      empty(place, &links)
    }
    guard unlinking.count > 0 else { return unlinking }
    theirs.details?.successDependents.removeAll { $0.identity == ObjectIdentifier(self) }
    if unlinking.waitCount > 0 { links.madeDetails.madeRarer.withdrawnWaits += 1 }
    unlinking.left = dependenciesIfObserved(&links)
    return unlinking
  }

  /// Where a dependency is listed, and whether its edge is out; under the lock of the links.
  private final func places(of dependency: Operation, _ links: borrowing Links) -> [(Place, isOut: Bool)] {
    let reference = OperationReference(dependency)
    var places: [(Place, isOut: Bool)] = []
    for number in 0..<DependencySlot.count {
      let word = withSlot(number) { $0.dependency.load(ordering: .acquiring) }
      if word & ~1 == UInt(bitPattern: reference.toOpaque()) { places.append((.slot(number), word & 1 != 0)) }
    }
    if let further = links.furtherDependencies, let position = further.position(of: reference) {
      places.append((.further(position), further.isOut(at: position)))
    }
    return places
  }

  /// What has come of taking an edge out of the dependency's stack.
  private enum Taking {
    case wasTaken
    /// The dependency has counted it down, or has ended and will not.
    case isOut
    /// It is not in the stack yet.
    case isBeingPushed
    /// The end of the dependency is counting down, without the lock.
    case hasToWait
  }

  /// Takes the edge of a dependent out of the stack.
  ///
  /// Under the lock of the links of this operation. If it has not ended, the thread that ends it takes that lock, too.
  private final func take(_ edge: Edge, _ links: inout Links) -> Taking {
    let word = state.announceLink()
    if word.phase == .finished {
      if dependents.isDone { return .isOut }
      guard word.isLinked else { return .hasToWait }
    }
    let rarer = links.madeDetails.madeRarer
    dependents.takeAll { rarer.dependents.append($0) }
    return rarer.dependents.remove(edge) ? .wasTaken : .isBeingPushed
  }

  /// Takes the edge of a dependent, which has finished or is freed, out of the stack.
  ///
  /// - Returns: Whether the edge is out; otherwise it is being pushed.
  private final func takeOut(_ edge: Edge) -> Bool {
    while true {
      switch links.withLock({ take(edge, &$0) }) {
      case .wasTaken, .isOut: return true
      case .isBeingPushed: return false
      case .hasToWait: dependents.awaitDone()
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

  // MARK: The end

  /// Closes the stack and counts down the dependents; returns those that became ready, retained, of which their queues
  /// have to be told.
  ///
  /// Called by the thread that ends the operation, where nobody has announced to have looked at the links. It calls
  /// nothing and takes no lock.
  final func countDown() -> ReadyDependents {
    var ready = ReadyDependents()
    dependents.close { Self.countDown($0, &ready) }
    return ready
  }

  /// As ``countDown()``, under the lock of the links: those first that were moved out of the stack.
  final func countDown(inLinks links: inout Links) -> ReadyDependents {
    links.isClosed = true
    var ready = ReadyDependents()
    // By itself: as a part of a longer function, it was compiled to a release of no object.
    links.takeListedDependents().forEach { Self.countDown($0, &ready) }
    dependents.close { Self.countDown($0, &ready) }
    return ready
  }

  /// Counts a dependent down.
  ///
  /// Looking at it through the unretained reference is safe by rule 2 of Links. It is retained, by rule 3, before the
  /// count-down that makes it ready: after that, its queue may have run and freed it.
  @inline(__always)
  private static func countDown(_ edge: Edge, _ ready: inout ReadyDependents) {
    edge.dependent._withUnsafeGuaranteedRef { dependent in
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

  /// Takes the dependencies out of their slots, where nobody else is at them, and all have counted this operation down.
  final func takeSlots() -> TakenDependencies {
    TakenDependencies(takeSlot(firstSlot), takeSlot(secondSlot), takeSlot(thirdSlot))
  }

  private final func takeSlot(_ slot: borrowing DependencySlot) -> OperationReference? {
    guard let dependency = UnsafeRawPointer(bitPattern: slot.dependency.load(ordering: .acquiring) & ~1) else {
      return nil
    }
    slot.dependency.store(0, ordering: .relaxed)
    return .fromOpaque(dependency)
  }

  /// Takes the dependencies out at the end, where there is the lock of the links.
  ///
  /// - Parameters:
  ///   - links: The links.
  ///   - before: The state from which the operation ended. If it ended before all dependencies had, those stay that
  ///     another thread is adding.
  ///   - areKept: All stay.
  /// - Returns: Those taken out, which the caller owns.
  @inline(never)
  final func takeDependencies(
    _ links: inout Links, endedFrom before: OperationWord, _ areKept: Bool
  ) -> TakenDependencies {
    var taken = TakenDependencies()
    if before.unfinishedDependencies > 0 {
      if !areKept { taken.others = takeThoseOut(&links) }
    } else if areKept {
      markAllOut(&links)
    } else {
      taken = takeSlots()
      taken.further = links.takeFurtherDependencies()
    }
    return taken
  }

  /// The operation has ended: marks the edges of all dependencies as out, where they have all counted it down.
  ///
  /// Under the lock of the links.
  private final func markAllOut(_ links: inout Links) {
    for (place, _, isOut) in listed(links) where !isOut { markOut(place, &links) }
  }

  /// Takes the dependencies out whose edges are out; the caller owns them.
  ///
  /// Under the lock of the links.
  private final func takeThoseOut(_ links: inout Links) -> [OperationReference] {
    var taken: [OperationReference] = []
    for (place, dependency, isOut) in listed(links) where isOut {
      empty(place, &links)
      taken.append(dependency)
    }
    return taken
  }

  private final func listed(_ links: borrowing Links) -> [(place: Place, dependency: OperationReference, isOut: Bool)] {
    var all: [(place: Place, dependency: OperationReference, isOut: Bool)] = []
    forEachListed(links) { dependency, place, isOut in all.append((place, dependency, isOut)) }
    return all
  }

  /// Takes the dependencies out here: the operation has finished, and its completion block has run.
  final func takeDependencies() -> [Operation] {
    guard state.current.isEdged else { return [] }
    return links.withLock { takeThoseOut(&$0) }.map { $0.takeRetainedValue() }
  }

  /// Takes this operation, which has finished before them, out of its dependencies' stacks, and returns them.
  final func leaveDependencies() -> [Operation] {
    let listed = links.withLock { links in
      self.listed(links).map {
        (place: $0.place, edge: $0.isOut ? nil : edge(at: $0.place, links), $0.dependency.operation)
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
  private final func leave(_ dependency: Operation, _ edge: Edge) {
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
    let listed = links.withLock { links -> [(OperationReference, Edge?, isOut: Bool)] in
      self.listed(links).map { ($0.dependency, edge(at: $0.place, links), $0.isOut) }
    }
    for case (let dependency, let edge?, false) in listed where word.unfinishedDependencies > 0 {
      let isOut = dependency._withUnsafeGuaranteedRef { $0.takeOut(edge) }
      assert(isOut, "an operation is freed while a dependency is added")
    }
    ReleasedChain.release(listed.map { $0.0.takeRetainedValue() })
  }
}

/// The dependencies that an operation had in its slots.
struct TakenDependencies {
  private let first: OperationReference?
  private let second: OperationReference?
  private let third: OperationReference?
  /// Those that had ended, of an operation that ended before others had.
  var others: [OperationReference] = []
  /// Those for which there were no slots.
  var further: FurtherDependencies?

  init(
    _ first: OperationReference? = nil, _ second: OperationReference? = nil, _ third: OperationReference? = nil
  ) {
    (self.first, self.second, self.third) = (first, second, third)
  }

  func forEach(_ body: (OperationReference) -> Void) {
    if let first { body(first) }
    if let second { body(second) }
    if let third { body(third) }
    if !others.isEmpty { others.forEach(body) }
    further?.forEachUnordered(body)
  }
}

extension OperationWord {
  /// After a count-down: that was the last dependency, and the queue has to be told. (A cancelled operation was ready
  /// before, and its queue knows.)
  fileprivate var becameReadyInQueue: Bool { becameReady && isEnqueued }

  /// After a count-down: that was the last dependency.
  fileprivate var becameReady: Bool { isReady && !isCancelled && phase == .pending }
}
