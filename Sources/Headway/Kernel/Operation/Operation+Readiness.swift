import Synchronization

extension Operation {
  /// Notifies the queue, if there is one, that the last dependency has finished or was removed, unless an override of
  /// ``isReady`` returns false.
  ///
  /// Called with no lock held, because it can run user code.
  final func lastDependencyFinished() {
    if overridesIsReady { return reconsiderReadiness() }
    var effects = Effects()
    queue?.operationBecameReady(self, leaving: &effects)
    effects.perform()
  }

  /// The change that observers receive when the base class's readiness has changed.
  ///
  /// An override of ``isReady`` might still return the same value. Its observers are notified nevertheless, because
  /// they might evaluate their conditions when the dependencies have finished.
  final var readinessChange: ObservedChange { ObservedChange(.isReady).posted(overridesIsReady) }

  /// The maximum number of operations that become ready in one update of a queue, so that its lock is not held for a
  /// long time.
  private static let mostReadyAtOnce = 64

  /// Makes operations whose last dependency has finished ready in their queues.
  ///
  /// Skips operations that override ``isReady``, because the override must be evaluated.
  ///
  /// - Parameters:
  ///   - ready: The operations, which the caller has retained.
  ///   - held: A queue that the caller keeps alive: the queue of most of the operations.
  ///   - effects: Receives the steps that can run user code.
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

  /// Evaluates ``isReady`` again, because the value of an override may have changed, and records it for the queue.
  ///
  /// Called with no lock held, because it runs user code. If several threads evaluate at the same time, the value of
  /// the last evaluation to begin is recorded. All changes that caused the other evaluations had happened before it
  /// began.
  final func reconsiderReadiness() {
    let inquiry = links.withLock { links in
      links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.readinessInquiries += 1
      return links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.readinessInquiries
    }
    // While dependencies keep the operation from starting, the value does not matter. It is evaluated when they have
    // finished.
    guard state.current.isReady else { return }
    let answer = isReady
    let word = links.withLock { links in
      links.details?.pointee.rareDetails?.readinessInquiries == inquiry
        ? state.setHeldBack(!answer || links.details?.pointee.gate?.isClosed == true) : nil
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

  /// Evaluates an override of ``isReady`` before a queue accepts the operation.
  ///
  /// The override is evaluated even if the operation has unfinished dependencies, because it may begin to evaluate its
  /// conditions. Its value counts only after the dependencies have finished. Until then, the operation is held back.
  ///
  /// - Returns: True if the operation is held back, so the override must be evaluated again after the queue has
  ///   accepted the operation.
  final func evaluateReadinessBeforeAdding() -> Bool {
    _ = state.setHeldBack(true)
    if state.current.isReady { reconsiderReadiness() } else { _ = isReady }
    return state.current.isHeldBack
  }
}
