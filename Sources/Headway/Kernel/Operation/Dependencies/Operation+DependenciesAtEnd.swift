import CHeadway
import Synchronization

extension Operation {
  /// Closes the stack and counts down the dependents.
  ///
  /// Returns the dependents that became ready, each retained. Their queues must be notified.
  ///
  /// Called by the thread that finishes the operation, if no thread has announced that it has read the links. It calls
  /// no other code and takes no lock.
  final func countDown() -> ReadyDependents {
    var ready = ReadyDependents()
    dependents.close { Self.countDown($0, &ready) }
    return ready
  }

  /// Like ``countDown()``, but under the lock of the links, and beginning with the edges that were moved out of the
  /// stack.
  final func countDown(inLinks links: inout Links) -> ReadyDependents {
    links.isClosed = true
    var ready = ReadyDependents()
    // A separate function: as part of a longer function, it was compiled to a release of no object.
    links.takeListedDependents().forEach { Self.countDown($0, &ready) }
    dependents.close { Self.countDown($0, &ready) }
    return ready
  }

  /// Counts down a dependent.
  ///
  /// Reading the dependent without a reference is safe because of rule 2 of ``Links``. The dependent is retained, as
  /// rule 3 allows, before the step that makes it ready, because its queue may have run and freed it after that step.
  @inline(__always)
  private static func countDown(_ edge: Edge, _ ready: inout ReadyDependents) {
    let dependent = edge.dependent
    edge.state.pointee.dependencyFinished { word in
      if word.becameReadyInQueue {
        ready.append(dependent.retain())
      } else if word.becameReady, swift_tryRetain(dependent.toOpaque()) != nil {
        // It is in no queue, so another thread might be freeing it at this moment. Whether a notification is needed is
        // determined later. This reference may be the last one by now and must not be released here.
        ready.append(dependent)
      }
    }
    // If the dependent is cancelled or given another dependency in between, its queue detects that.
  }

  /// Removes the dependencies from their slots, when all dependencies have counted down this operation and no other
  /// thread accesses the slots.
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

  /// Removes the dependencies when the operation ends, under the lock of the links.
  ///
  /// - Parameters:
  ///   - links: The links of this operation.
  ///   - before: The state before the operation ended. If it ended before all of its dependencies, dependencies whose
  ///     edges are not unlinked stay, such as dependencies that another thread is adding.
  ///   - areKept: True to keep all dependencies.
  /// - Returns: The removed dependencies, which the caller owns.
  @inline(never)
  final func takeDependencies(
    _ links: inout Links, endedFrom before: OperationWord, _ areKept: Bool
  ) -> TakenDependencies {
    var taken = TakenDependencies()
    if before.unfinishedDependencies > 0 {
      if !areKept { taken.others = removeUnlinked(&links) }
    } else if areKept {
      markAllUnlinked(&links)
    } else {
      taken = takeSlots()
      taken.further = links.takeFurtherDependencies()
    }
    return taken
  }

  /// Marks the edges of all dependencies as unlinked, after the operation has ended and all dependencies have counted
  /// it down.
  ///
  /// Called under the lock of the links.
  private final func markAllUnlinked(_ links: inout Links) {
    for (place, _, isUnlinked) in listed(links) where !isUnlinked { markUnlinked(place, &links) }
  }

  /// Removes the dependencies whose edges are unlinked.
  ///
  /// The caller then owns them.
  ///
  /// Called under the lock of the links.
  private final func removeUnlinked(_ links: inout Links) -> [OperationReference] {
    var taken: [OperationReference] = []
    for (place, dependency, isUnlinked) in listed(links) where isUnlinked {
      empty(place, &links)
      taken.append(dependency)
    }
    return taken
  }

  /// Notes that some code no longer reads the dependencies.
  ///
  /// Releases them if no other code can read them.
  ///
  /// Called with no lock held, because releasing a dependency can run user code.
  final func releaseDependencies(readBy reader: DependencyReaders) {
    guard state.current.mayHaveDependencies else { return }
    let taken = links.withLock { links -> [OperationReference] in
      guard let details = links.details, details.pointee.readers.remove(reader) != nil, details.pointee.readers.isEmpty
      else { return [] }
      return removeUnlinked(&links)
    }
    ReleasedChain.release(taken.map { $0.takeRetainedValue() })
  }
}

/// The dependencies that were removed from an operation when it ended.
struct TakenDependencies {
  private let first: OperationReference?
  private let second: OperationReference?
  private let third: OperationReference?
  /// The dependencies with unlinked edges, if the operation ended before all of its dependencies.
  var others: [OperationReference] = []
  /// The dependencies that had no slots.
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
