import Synchronization

extension Operation {
  /// What few operations need to be joined to others.
  ///
  /// Protected by the lock of ``Operation/links``.
  ///
  /// An operation owns its dependencies; a dependency knows its dependents, by the edges in its stack
  /// (``DependentStack``), and does not own them, so a graph that is never run is freed like any other. The edges are
  /// in the dependents. They and the dependents are there because of three rules:
  /// 1. An operation takes its edges out of the stacks of its unfinished dependencies before it is released: when it
  ///    finishes early (cancelled), and when it is freed unfinished. A thread that takes one out has the lock of the
  ///    dependency's links, and has announced that, so that the thread that ends the dependency takes the lock as well;
  ///    if that one has begun without it, it is waited for.
  /// 2. So the thread that ends a dependency may read the edges of its stack, and the atomic state of their operations,
  ///    until it has counted them down.
  /// 3. An operation in the stack whose state says `enqueued` is owned by its queue, or by a thread that has it in a
  ///    batch, either of which releases it only after rule 1; so such an operation, and only such, may be retained
  ///    there, as long as this dependency has not counted it down.
  struct Links: @unchecked Sendable {  // Used under the lock only, and so may be changed while another lock is held.
    /// What few operations have.
    var details: OperationDetails?
    /// The end has dealt with what is here: nothing more may be added.
    var isClosed = false

    /// The dependencies beyond those that are in the slots of the operation.
    var furtherDependencies: FurtherDependencies? { details?.furtherDependencies }

    /// The further dependencies, made when first needed.
    var madeFurtherDependencies: FurtherDependencies {
      mutating get {
        if let furtherDependencies { return furtherDependencies }
        let made = FurtherDependencies()
        detailsCreatedIfNeeded.furtherDependencies = made
        return made
      }
    }

    /// Takes out the edges that were moved out of the stack of dependents.
    @inline(never)
    func takeListedDependents() -> IdentityList<Edge> {
      guard let rareDetails = details?.rareDetails else { return IdentityList<Edge>() }
      return rareDetails.dependents.takeAll()
    }

    /// Takes out what ``furtherDependencies`` lists, with its ownership.
    func takeFurtherDependencies() -> FurtherDependencies? { details?.furtherDependencies.take() }

    /// The details, made when first needed.
    var detailsCreatedIfNeeded: OperationDetails {
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
  /// The operation does not own its queue: a queue that holds operations owns itself. To look for it here is
  /// announced under the lock of the links, and a thread that ends the operation afterwards takes that lock before the
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
