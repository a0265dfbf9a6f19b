import Synchronization

extension Operation {
  /// The last dependency has finished: tells the queue, if there is one, unless an override of ``isReady`` says
  /// otherwise.
  final func tellQueueIfReady() {
    var notifications = PendingNotifications()
    tellQueueIfReady(notifyingLater: &notifications)
    notifications.send()
  }

  final func tellQueueIfReady(notifyingLater notifications: inout PendingNotifications) {
    guard state.current.isEnqueued else { return }
    guard isReady, !state.current.isHeldBack else { return reconsiderReadiness() }
    queue?.operationBecameReady(self, notifyingLater: &notifications)
  }

  /// Asks ``isReady`` once more, since an override may answer otherwise than before, and notes the answer for its
  /// queue.
  ///
  /// Called with no lock held, since it runs users' code. When several threads ask at once, the answer to the last
  /// inquiry is the one that is noted.
  final func reconsiderReadiness() {
    while true {
      let inquiry = links.withLock { links in
        links.madeDetails.readinessInquiries += 1
        return links.madeDetails.readinessInquiries
      }
      // While dependencies keep it from starting, the answer does not matter; when they have finished, it is asked.
      guard state.current.isReady else { return }
      let answer = isReady
      let word = links.withLock { links in
        links.details?.readinessInquiries == inquiry ? state.setHeldBack(!answer) : nil
      }
      guard let word else { continue }
      guard word.isEnqueued, word.phase == .pending else { return }
      var notifications = PendingNotifications()
      if word.isStartable {
        queue?.operationBecameReady(self, notifyingLater: &notifications)
      } else {
        queue?.operationIsHeldBack(self, notifyingLater: &notifications)
      }
      notifications.send()
      return
    }
  }

  /// A queue is about to take the operation in: asks whether an override of ``isReady`` holds it back.
  ///
  /// It is asked whatever it depends on: an override may begin to evaluate its conditions. What it answers counts once
  /// the dependencies have finished; until then it is held back.
  ///
  /// - Returns: Whether it waited for dependencies.
  final func inquireReadinessBeforeAdding() -> Bool {
    _ = state.setHeldBack(true)
    if state.current.isReady {
      reconsiderReadiness()
      return false
    }
    _ = isReady
    return true
  }

  /// The last dependency has finished while the operation is in no queue: asks an override of ``isReady``, which may
  /// begin to evaluate its conditions.
  final func inquireReadinessInNoQueue() { if !state.current.isEnqueued, overridesIsReady { _ = isReady } }
}
