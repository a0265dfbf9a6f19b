import Synchronization

extension Operation {
  /// The links to other operations that only few operations have.
  ///
  /// Protected by the lock of ``Operation/links``.
  ///
  /// An operation owns its dependencies. A dependency reaches its dependents through the edges in its stack
  /// (``DependentStack``), and does not own them, so a graph that never runs is freed like any other object. The edges
  /// are part of the dependents. Three rules ensure that an edge and its dependent exist when they are used:
  /// 1. An operation removes its edges from the stacks of its unfinished dependencies before it is released: when it
  ///    finishes early (cancelled), and when it is freed unfinished. A thread that removes an edge holds the lock of
  ///    the dependency's links. It has announced this, so the thread that finishes the dependency also takes the lock.
  ///    If that thread has already begun without the lock, the removing thread waits for it.
  /// 2. As a result, the thread that finishes a dependency may read the edges of its stack, and the atomic state of
  ///    their operations, until it has counted them down.
  /// 3. An operation in the stack whose state is *enqueued* is owned by its queue, or by a thread that has it in a
  ///    batch. Either of them releases it only after rule 1. Therefore, only such an operation may be retained there,
  ///    as long as this dependency has not counted it down.
  struct Links: ~Copyable, @unchecked Sendable {  // Used only under the lock.
    /// The details, which few operations have; never removed.
    private(set) var details: UnsafeMutablePointer<OperationDetails>?
    /// True after the end has processed the links: nothing may be added.
    var isClosed = false

    deinit { if let details { OperationDetails.free(details) } }

    /// The list of observers, created with the first observer, and removed when the operation ends.
    var observers: ObserverList? {
      get { details?.pointee.observers }
      set { if newValue != nil || details != nil { detailsCreatedIfNeeded.pointee.observers = newValue } }
    }

    /// The dependencies that did not fit in the slots of the operation.
    var furtherDependencies: FurtherDependencies? { details?.pointee.furtherDependencies }

    /// Whether the operation has ended, and the thread that ended it kept the dependencies under the lock.
    var keepsDependencies: Bool { details?.pointee.readers.isEmpty == false }

    /// The further dependencies, created when they are first needed.
    var furtherDependenciesCreatedIfNeeded: FurtherDependencies {
      mutating get {
        if let furtherDependencies { return furtherDependencies }
        let made = FurtherDependencies()
        detailsCreatedIfNeeded.pointee.furtherDependencies = made
        return made
      }
    }

    /// Removes and returns the edges that were moved out of the stack of dependents.
    @inline(never)
    func takeListedDependents() -> IdentityList<Edge> {
      guard let rareDetails = details?.pointee.rareDetails else { return IdentityList<Edge>() }
      return rareDetails.dependents.takeAll()
    }

    /// Removes and returns the further dependencies, with their ownership.
    func takeFurtherDependencies() -> FurtherDependencies? { details?.pointee.furtherDependencies.take() }

    /// The details, created when they are first needed.
    var detailsCreatedIfNeeded: UnsafeMutablePointer<OperationDetails> {
      mutating get {
        if let details { return details }
        let made = OperationDetails.make()
        details = made
        return made
      }
    }
  }

  /// The queue that holds the operation, until it has finished.
  ///
  /// The operation does not own its queue: a queue that holds operations owns itself. A thread that reads the queue
  /// here announces this under the lock of the links. A thread that finishes the operation afterwards takes that lock
  /// before the operation leaves the queue, so the queue is alive.
  final var queue: OperationQueue? {
    guard state.current.isEnqueued else { return nil }
    return links.withLock { _ in
      state.announceLink().phase == .finished ? nil : queueLinks.home?.takeUnretainedValue()
    }
  }

  /// Like ``queue``, but without the lock if the queue is `held`, which the caller keeps alive.
  ///
  /// The operation may have finished.
  final func queue(holding held: Unmanaged<OperationQueue>?) -> OperationQueue? {
    guard let held, state.current.isEnqueued, queueLinks.home?.toOpaque() == held.toOpaque() else { return queue }
    return held.takeUnretainedValue()
  }
}
