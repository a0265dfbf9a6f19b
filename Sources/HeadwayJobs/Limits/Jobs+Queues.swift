import Headway

extension Jobs {
  // MARK: Settings of queues

  /// Limits the number of running jobs of a queue, on all workers together.
  ///
  /// Each claim counts the running jobs, so a worker that crashes does not use up the limit.
  ///
  /// - Parameters:
  ///   - limit: The maximum number; nil for no limit. With 0, no job is claimed.
  ///   - queue: The queue of the store.
  /// - Throws: ``JobError``.
  /// - Precondition: The limit is not negative.
  public func setLimit(_ limit: Int?, ofQueue queue: String) async throws {
    require(limit ?? 0 >= 0, "The limit \(limit ?? 0) of the queue \(queue) is negative: use 0, or nil for no limit.")
    _ = try await store.perform(.configure(queue: queue, .limit(limit)))
  }

  /// Limits the number of scheduled and waiting jobs of a queue.
  ///
  /// If the queue has that many jobs, enqueueing waits or fails: see ``JobOptions/fullQueuePolicy``. If the queue is
  /// not full, a batch of any size is stored as a whole. Jobs that return to the queue are not affected.
  ///
  /// - Parameters:
  ///   - limit: The number of jobs at which the queue is full; nil for no limit.
  ///   - queue: The queue of the store.
  /// - Throws: ``JobError``.
  /// - Precondition: The limit is positive.
  /// - Complexity: While a queue has a pending limit, each transaction that adds jobs counts the pending ones. This
  ///   takes O(*n*) in the limit.
  public func setPendingLimit(_ limit: Int?, ofQueue queue: String) async throws {
    require(
      limit ?? 1 > 0, "A queue with the pending limit \(limit ?? 1) would accept no jobs: use a positive number.")
    _ = try await store.perform(.configure(queue: queue, .pendingLimit(limit)))
  }

  /// Pauses a queue after a number of failures in a row, for example because a service is down.
  ///
  /// An attempt counts as a failure if it ends with an error, whether or not the job is retried. A success resets the
  /// count, and so does ``resume(_:)``. Crashes, cancellations and snoozes don't change it.
  ///
  /// - Parameters:
  ///   - count: The number of failures; nil to never pause the queue.
  ///   - queue: The queue of the store.
  /// - Throws: ``JobError``.
  /// - Precondition: The number is positive.
  public func setPauseOnFailure(_ count: Int?, ofQueue queue: String) async throws {
    require(
      count ?? 1 > 0, "The queue \(queue) can't be paused after \(count ?? 1) failures: use a positive number.")
    _ = try await store.perform(.configure(queue: queue, .failureLimit(count)))
  }

  /// Raises waiting jobs of a queue by one priority for each interval that they have waited.
  ///
  /// Jobs of a low priority are then claimed even if there are always jobs of a higher one. The stored priority does
  /// not change, and no job rises above `veryHigh`. The waiting time begins when the job becomes ready, and begins
  /// again when the job returns after a failure.
  ///
  /// - Parameters:
  ///   - time: The interval; nil for strict priorities.
  ///   - queue: The queue of the store.
  /// - Throws: ``JobError``.
  /// - Precondition: The interval is positive.
  public func setAging(_ time: Duration?, ofQueue queue: String) async throws {
    require(
      time ?? .seconds(1) > .zero,
      "The priority of jobs in the queue \(queue) can't rise every \(time ?? .zero): use a positive interval, or nil.")
    _ = try await store.perform(.configure(queue: queue, .aging(time)))
  }

  // MARK: Full queues

  /// The maximum time until a caller that waits for room tries again.
  private static let roomInterval = Duration.seconds(1)

  /// Stores jobs, and waits for room in their queues unless the policy is to fail.
  func store(_ new: [NewJob], _ policy: FullQueuePolicy?) async throws -> [Enqueued] {
    if let enqueued = try await storeUnlessFull(new, policy) { return enqueued }
    let bell = Doorbell()
    let token = store.observeHints { if case .room = $0 { bell.ring() } }
    defer { withExtendedLifetime(token) {} }
    // Tries again after adding the observer, because the queue might have gained room in between.
    while true {
      if let enqueued = try await storeUnlessFull(new, policy) { return enqueued }
      await bell.wait(atMost: Self.roomInterval, waiters.sleep)
      try Task.checkCancellation()
    }
  }

  /// Stores jobs; returns nil if a queue is full and the caller must wait.
  private func storeUnlessFull(_ new: [NewJob], _ policy: FullQueuePolicy?) async throws -> [Enqueued]? {
    do {
      return try await store.enqueue(new)
    } catch let error as JobError where error.code == .queueFull && policy != .fail {
      return nil
    }
  }
}

extension JobError {
  /// Creates the error for a queue that is full.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - limit: Its pending limit.
  package init(full queue: String, limit: Int) {
    self.init(
      .queueFull,
      "The queue \(queue) is full: \(limit) or more jobs wait in it. Try again later, or change the pending limit.")
  }
}
