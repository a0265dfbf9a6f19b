import Synchronization

extension Operation {
  /// The last dependency has gone: tells the observers and the queue.
  final func tellReady() {
    let word = state.current
    if word.isObserved { tell([ObservedChange(.isReady)]) }
    if word.isEnqueued { tellQueueReady() }
  }

  /// Tells the queue that the operation is ready, unless an override of ``isReady`` says otherwise.
  final func tellQueueReady() {
    guard isReady, !state.current.isHeldBack else { return reconsiderReadiness() }
    queue?.operationBecameReady(self)
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
      if word.isStartable, word.isEnqueued, word.phase == .pending {
        queue?.operationBecameReady(self)
      }
      return
    }
  }

  /// Before the operation stands in a queue's books: asks whether an override of ``isReady`` holds it back.
  final func inquireReadiness() {
    if !isReady, state.current.isReady { reconsiderReadiness() }
  }
}
