import Synchronization

/// What an operation waits for, where it is listed.
extension Operation {
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
  final func dependenciesIfObserved(_ links: inout Links) -> [Operation]? {
    links.details?.observers?.observesDependencies == true ? listedDependencies(&links) : nil
  }

  /// Where an operation lists a dependency.
  enum DependencyPlace {
    case slot(Int)
    case further(Int)
  }

  /// Calls `body` with each dependency, in the order of adding, and whether its edge is out.
  ///
  /// Under the lock of the links, after the sight of the dependencies was announced; or where no other thread is at
  /// them.
  private final func forEachListed(
    _ links: borrowing Links, _ body: (OperationReference, DependencyPlace, _ isUnlinked: Bool) -> Void
  ) {
    for number in 0..<DependencySlot.count {
      let word = withSlot(number) { $0.dependency.load(ordering: .acquiring) }
      guard let dependency = UnsafeRawPointer(bitPattern: word & ~1) else { continue }
      body(.fromOpaque(dependency), .slot(number), word & 1 != 0)
    }
    links.furtherDependencies?.forEach { dependency, position, isUnlinked in
      body(dependency, .further(position), isUnlinked)
    }
  }

  final func edge(at place: DependencyPlace, _ links: borrowing Links) -> Edge? {
    switch place {
    case .slot(let number): Edge(slot: number, of: self)
    case .further(let position): links.furtherDependencies?.edge(at: position)
    }
  }

  /// Gives up the ownership of a dependency, whose edge is out.
  final func empty(_ place: DependencyPlace, _ links: inout Links) {
    switch place {
    case .slot(let number): withSlot(number) { $0.dependency.store(0, ordering: .relaxed) }
    case .further(let position): links.furtherDependencies?.remove(at: position)
    }
  }

  /// Marks an edge as out, unless another thread has emptied the place meanwhile.
  final func markOut(_ place: DependencyPlace, _ links: inout Links) {
    switch place {
    case .slot(let number):
      withSlot(number) { slot in
        let dependency = slot.dependency.load(ordering: .acquiring)
        if dependency != 0 { slot.dependency.store(dependency | 1, ordering: .relaxed) }
      }
    case .further(let position): links.furtherDependencies?.markOut(at: position)
    }
  }

  /// Where a dependency is listed, and whether its edge is out; under the lock of the links.
  final func places(of dependency: Operation, _ links: borrowing Links) -> [(DependencyPlace, isUnlinked: Bool)] {
    let reference = OperationReference(dependency)
    var places: [(DependencyPlace, isUnlinked: Bool)] = []
    for number in 0..<DependencySlot.count {
      let word = withSlot(number) { $0.dependency.load(ordering: .acquiring) }
      if word & ~1 == UInt(bitPattern: reference.toOpaque()) { places.append((.slot(number), word & 1 != 0)) }
    }
    if let further = links.furtherDependencies, let position = further.position(of: reference) {
      places.append((.further(position), further.isUnlinked(at: position)))
    }
    return places
  }

  /// All dependencies; as ``forEachListed(_:_:)``.
  final func listed(_ links: borrowing Links) -> [(
    place: DependencyPlace, dependency: OperationReference, isUnlinked: Bool
  )] {
    var all: [(place: DependencyPlace, dependency: OperationReference, isUnlinked: Bool)] = []
    forEachListed(links) { dependency, place, isUnlinked in all.append((place, dependency, isUnlinked)) }
    return all
  }
}
