import Synchronization

extension Operation {
  /// The last dependency has finished, or was removed: tells the queue, if there is one, unless an override of
  /// ``isReady`` says otherwise.
  ///
  /// Called with no lock held, since it may run users' code.
  final func lastDependencyIsGone() {
    if overridesIsReady { return reconsiderReadiness() }
    var effects = Effects()
    queue?.operationBecameReady(self, leaving: &effects)
    effects.perform()
  }

  /// The change that observers receive when the base class's readiness has changed.
  ///
  /// An override of ``isReady`` may have kept its value. Its observers are notified even so: they might evaluate their
  /// conditions when the dependencies have finished.
  final var readinessChange: ObservedChange { ObservedChange(.isReady).posted(overridesIsReady) }

  /// How many operations become ready in one update of a queue at most, so that its lock is not held for long.
  private static let mostReadyAtOnce = 64

  /// Makes operations ready in their queues whose last dependency has finished; but not those that override
  /// ``isReady``, which are to be asked.
  ///
  /// - Parameters:
  ///   - ready: The operations, which the caller has retained.
  ///   - held: A queue that the caller keeps alive: that of most.
  ///   - effects: Takes what may run users' code.
  static func notifyQueues(
    of ready: borrowing ReadyDependents, holding held: Unmanaged<OperationQueue>?,
    leaving effects: inout Effects
  ) {
    if let only = ready.only {
      return only._withUnsafeGuaranteedRef { operation in
        guard !operation.overridesIsReady else { return }
        operation.queue(holding: held)?.operationBecameReady(operation, leaving: &effects)
      }
    }
    var (group, groupQueue): ([OperationReference], OperationQueue?) = ([], nil)
    ready.forEach { reference in
      reference._withUnsafeGuaranteedRef { operation in
        guard !operation.overridesIsReady, let queue = operation.queue(holding: held) else { return }
        if queue !== groupQueue || group.count == mostReadyAtOnce {
          groupQueue?.operationsBecameReady(group, leaving: &effects)
          group.removeAll(keepingCapacity: true)
          groupQueue = queue
        }
        group.append(reference)
      }
    }
    groupQueue?.operationsBecameReady(group, leaving: &effects)
  }

  /// Asks ``isReady`` once more, since an override may answer otherwise than before, and notes the answer for its
  /// queue.
  ///
  /// Called with no lock held, since it runs users' code. When several threads ask at once, the answer to the last
  /// inquiry is the one that is noted: it began after all that the others were asked for had changed.
  final func reconsiderReadiness() {
    let inquiry = links.withLock { links in
      links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.readinessInquiries += 1
      return links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.readinessInquiries
    }
    // While dependencies keep it from starting, the answer does not matter; when they have finished, it is asked.
    guard state.current.isReady else { return }
    let answer = isReady
    let word = links.withLock { links in
      links.details?.rareDetails?.readinessInquiries == inquiry ? state.setHeldBack(!answer) : nil
    }
    guard let word, word.isEnqueued, word.phase == .pending else { return }
    var effects = Effects()
    if word.isStartable {
      queue?.operationBecameReady(self, leaving: &effects)
    } else {
      queue?.operationIsHeldBack(self, leaving: &effects)
    }
    effects.perform()
  }

  /// A queue is about to take the operation in: asks whether an override of ``isReady`` holds it back.
  ///
  /// It is asked whatever it depends on: an override may begin to evaluate its conditions. What it answers counts once
  /// the dependencies have finished; until then it is held back.
  ///
  /// - Returns: Whether it is held back, and so is to be asked again when the queue has it.
  final func inquireReadinessBeforeAdding() -> Bool {
    _ = state.setHeldBack(true)
    if state.current.isReady { reconsiderReadiness() } else { _ = isReady }
    return state.current.isHeldBack
  }
}
