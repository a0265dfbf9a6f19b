import Headway

extension Jobs {
  // MARK: Settings of queues

  /// Changes a setting of a queue, for all processes.
  ///
  /// ```swift
  /// try await jobs.changeQueue("mail", .maxRunningJobCount(8))
  /// ```
  ///
  /// - Parameters:
  ///   - queue: The queue of the store.
  ///   - change: The setting, with its new value.
  /// - Throws: ``JobError``.
  /// - Precondition: `maxRunningJobCount` is not negative, and other values are positive.
  public func changeQueue(_ queue: String, _ change: JobQueueChange) async throws {
    try await perform(.configure(queue: queue, change))
  }

  // MARK: Full queues

  /// The maximum time until a caller that waits for room tries again.
  private static let roomInterval = Duration.seconds(1)

  /// Stores jobs and waits for room in their queues unless the policy is to fail.
  func store(_ new: [NewJob], _ policy: FullQueuePolicy?) async throws -> [Enqueued] {
    if let enqueued = try await storeUnlessFull(new, policy) { return enqueued }
    let bell = Doorbell()
    let token = backend.observeHints { if case .room = $0 { bell.ring() } }
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
      return try await backend.enqueue(new)
    } catch let error as JobError where error.code == .queueFull && policy != .fail {
      return nil
    }
  }
}

extension JobError {
  /// Creates the error for a queue that is full.
  ///
  /// - Parameters:
  ///   - queue: The name of the queue.
  ///   - limit: Its maximum number of pending jobs.
  @_spi(JobStore) public init(full queue: String, limit: Int) {
    self.init(
      .queueFull,
      "The queue \(queue) is full: \(limit) or more jobs wait in it. Try again later, or raise its maxPendingJobCount.")
  }
}
