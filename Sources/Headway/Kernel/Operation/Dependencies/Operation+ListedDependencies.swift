import Synchronization

/// The dependencies of an operation, and the places where it lists them.
extension Operation {
  /// The dependencies, in insertion order.
  ///
  /// Called under the lock of the links.
  final func listedDependencies(_ links: inout Links) -> [Operation] {
    guard state.current.isEdged, state.announceReadOfDependencies() || links.keepsDependencies else { return [] }
    var listed: [Operation] = []
    forEachListed(links) { dependency, _, _ in
      // Two threads that add the same dependency at the same time might not see each other.
      let isTwice = listed.prefix(DependencySlot.count).contains { $0 === dependency.takeUnretainedValue() }
      if !isTwice { listed.append(dependency.takeUnretainedValue()) }
    }
    return listed
  }

  /// The place where an operation lists a dependency.
  enum DependencyPlace {
    case slot(Int)
    case further(Int)
  }

  /// Calls `body` with each dependency, in insertion order, and with whether its edge is unlinked.
  ///
  /// Called under the lock of the links, after the read of the dependencies was announced; or when no other thread
  /// accesses them.
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

  /// Gives up the ownership of a dependency whose edge is unlinked.
  final func empty(_ place: DependencyPlace, _ links: inout Links) {
    switch place {
    case .slot(let number): withSlot(number) { $0.dependency.store(0, ordering: .relaxed) }
    case .further(let position): links.furtherDependencies?.remove(at: position)
    }
  }

  /// Marks an edge as unlinked, unless another thread has emptied the place in the meantime.
  final func markUnlinked(_ place: DependencyPlace, _ links: inout Links) {
    switch place {
    case .slot(let number):
      withSlot(number) { slot in
        let dependency = slot.dependency.load(ordering: .acquiring)
        if dependency != 0 { slot.dependency.store(dependency | 1, ordering: .relaxed) }
      }
    case .further(let position): links.furtherDependencies?.markUnlinked(at: position)
    }
  }

  /// The places where a dependency is listed, and whether its edges are unlinked.
  ///
  /// Called under the lock of the links.
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

  /// All dependencies, in insertion order.
  ///
  /// Has the same requirements as ``forEachListed(_:_:)``.
  final func listed(_ links: borrowing Links) -> [(
    place: DependencyPlace, dependency: OperationReference, isUnlinked: Bool
  )] {
    var all: [(place: DependencyPlace, dependency: OperationReference, isUnlinked: Bool)] = []
    forEachListed(links) { dependency, place, isUnlinked in all.append((place, dependency, isUnlinked)) }
    return all
  }
}
