import Synchronization

extension Operation {
  /// What joins an operation to others.
  ///
  /// Protected by the lock of ``Operation/links``.
  ///
  /// An operation owns its dependencies; a dependency knows its dependents and does not own them, so a graph that is
  /// never run is freed like any other. The pointers in `dependents` are valid because of three rules:
  /// 1. An operation takes itself out of its unfinished dependencies' lists, under their locks, before it is let go of:
  ///    when it finishes early (cancelled), and when it is freed unfinished.
  ///    One unfinished operation lists another as a dependency exactly when that one, while unfinished, lists it as a
  ///    dependent: both lists change under both locks.
  /// 2. So whoever holds a dependency's lock may read the atomic state of everything in its list.
  /// 3. An operation in the list whose state says `enqueued` is owned by its queue, or by a thread that has it in a
  ///    batch, either of which releases it only after rule 1; so under the dependency's lock such an operation, and
  ///    only such, may be retained, as long as this dependency has not been counted down.
  struct Links: @unchecked Sendable {  // Used under the lock only, and so may be changed while another lock is held.
    /// In the order in which they were added; emptied at the end.
    ///
    /// Owned: retained when added, and to be released by whoever takes them out.
    var dependencies = IdentityList()
    /// Those that wait for this operation; emptied at the end.
    var dependents = IdentityList()
    /// What few operations have.
    var details: OperationDetails?
    /// The operation has finished and has counted down its dependents: nothing more may be added to either list.
    var isClosed = false

    /// The details, made when first needed.
    var madeDetails: OperationDetails {
      mutating get {
        if let details { return details }
        let made = OperationDetails()
        details = made
        return made
      }
    }
  }

  /// The queue that holds the operation, until it has finished.
  ///
  /// The operation does not own its queue: a queue that holds operations owns itself. Whoever looks for it here
  /// announces that under the lock of the links, and whoever ends the operation afterwards takes that lock before the
  /// operation leaves the queue; so the queue is alive.
  final var queue: OperationQueue? {
    guard state.current.isEnqueued else { return nil }
    return links.withLock { _ in
      state.announceLink().phase == .finished ? nil : queueLinks.home?.takeUnretainedValue()
    }
  }

  /// As ``queue``, without the lock if it is `held`, which the caller keeps alive; the operation may have finished.
  final func queue(holding held: Unmanaged<OperationQueue>?) -> OperationQueue? {
    guard let held, state.current.isEnqueued, queueLinks.home?.toOpaque() == held.toOpaque() else { return queue }
    return held.takeUnretainedValue()
  }
}
