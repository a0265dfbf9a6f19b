import CHeadway
import Synchronization

extension Operation {
  /// Closes the stack and counts down the dependents; returns those that became ready, retained, of which their queues
  /// have to hear.
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
  /// Looking at it without a reference is safe by rule 2 of Links. It is retained, by rule 3, before the count-down
  /// that makes it ready: after that, its queue may have run and freed it.
  @inline(__always)
  private static func countDown(_ edge: Edge, _ ready: inout ReadyDependents) {
    let dependent = edge.dependent
    edge.state.pointee.dependencyFinished { word in
      if word.becameReadyInQueue {
        ready.append(dependent.retain())
      } else if word.becameReady, swift_tryRetain(dependent.toOpaque()) != nil {
        // It is in no queue, so it might be being freed at this moment. Whether anybody is to hear of it is asked
        // later: this reference may be the last one by now, and must not be dropped here.
        ready.append(dependent)
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
    for (place, _, isUnlinked) in listed(links) where !isUnlinked { markOut(place, &links) }
  }

  /// Takes the dependencies out whose edges are out; the caller owns them.
  ///
  /// Under the lock of the links.
  private final func takeThoseOut(_ links: inout Links) -> [OperationReference] {
    var taken: [OperationReference] = []
    for (place, dependency, isUnlinked) in listed(links) where isUnlinked {
      empty(place, &links)
      taken.append(dependency)
    }
    return taken
  }

  /// Takes the dependencies out here: the operation has finished, and its completion block has run.
  final func takeDependencies() -> [Operation] {
    guard state.current.isEdged else { return [] }
    return links.withLock { takeThoseOut(&$0) }.map { $0.takeRetainedValue() }
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
