import Headway

extension Jobs {
  /// Changes jobs, or a queue.
  ///
  /// The command changes only jobs that matched its filter when it began, and each of them at most once. Jobs that are
  /// added later, or that fail again in the meantime, remain as they are. Each transaction changes at most
  /// ``JobCommand/maxChangedCount`` jobs.
  ///
  /// - Parameter command: The change to make, with the jobs or the queue that it applies to.
  /// - Returns: The number of jobs or queues that were changed.
  /// - Throws: ``JobError``. Earlier changes remain. Jobs that can't be run again, or can't receive a signal, cause an
  ///   error only if no other job was changed.
  @discardableResult
  public func perform(_ command: JobCommand) async throws -> Int { try await perform(command) { _, _ in } }

  /// Changes jobs, or a queue, and reports the progress after each transaction.
  ///
  /// - Parameters:
  ///   - command: The change to make, with the jobs or the queue that it applies to.
  ///   - onProgress: Called with the number of changed jobs, and the number of jobs that matched.
  /// - Returns: The number of jobs or queues that were changed.
  /// - Throws: ``JobError``.
  package func perform(
    _ command: JobCommand, onProgress: (_ changedCount: Int, _ count: Int) -> Void
  ) async throws -> Int {
    try check(command)
    let origin = try origin(filter: command.filter)
    guard let filter = command.filter else { return try await performRepeatedly(command, origin) }
    let begin = store.now
    var ids = try await ids(filter, in: command.changedStates)
    let count = ids.count
    var (changed, refusal) = (0, JobError?.none)
    onProgress(0, count)
    while !ids.isEmpty {
      let changedBefore = changed
      var left: [JobID] = []
      for part in ids.parts(of: JobCommand.maxChangedCount) {
        if changed > 0 { try Task.checkCancellation() }
        let number: Int
        do {
          number = try await backend.perform(command.limited(to: part), by: origin)
        } catch let error as JobError where error.refusesChange {
          (number, refusal) = (0, refusal ?? error)
        }
        if number > 0 { eventLog.post(JobEvent(command, count: number)) }
        if number < part.count { left += part }
        changed += number
        onProgress(changed, count)
      }
      // A job might require the success of one that a later transaction has run again.
      guard case .retry = command, count > JobCommand.maxChangedCount, changed > changedBefore else { break }
      ids = []
      for part in left.parts(of: JobCommand.maxChangedCount) {
        let filter = JobFilter(ids: part, states: command.changedStates)
        let found = try await backend.jobs(filter, after: nil, limit: part.count)
        // The remaining jobs have run and failed again.
        ids += found.filter { ($0.finishedTime ?? begin) <= begin && !$0.history.hasRetry(since: begin) }.map(\.id)
      }
    }
    if changed == 0, let refusal { throw refusal }
    return changed
  }

  /// Checks that a command assigns only values that jobs and queues can have.
  private func check(_ command: JobCommand) throws {
    switch command {
    case .change(_, .queue(let queue)):
      require(!queue.isEmpty, "Jobs are moved to a queue without a name: name the queue.")
      try NameLength.check(queue, "The queue of a job", NameLength.name)
    case .change(_, .payload(let payload, _)): try check(payload, "The new payload of a job")
    case .signal(_, let signal): try check(signal)
    case .setPaused(let queue, _): try NameLength.check(queue, "The name of a queue", NameLength.name)
    case .configure(let queue, let change):
      change.requireValid(for: queue)
      try NameLength.check(queue, "The name of a queue", NameLength.name)
    default: break
    }
  }

  /// Repeats a command that has no filter until it changes nothing.
  private func performRepeatedly(_ command: JobCommand, _ origin: JobsChangeOrigin?) async throws -> Int {
    var total = 0
    while true {
      let changed = try await backend.perform(command, by: origin)
      if changed > 0 { eventLog.post(JobEvent(command, count: changed)) }
      total += changed
      if changed < JobCommand.maxChangedCount { return total }
      try Task.checkCancellation()
    }
  }

  /// Returns the IDs of all jobs that match a filter and are in one of the states, in ascending order.
  private func ids(_ filter: JobFilter, in states: Set<JobState>) async throws -> [JobID] {
    if let ids = filter.ids { return Set(ids).sorted() }
    var filter = filter
    filter.states = filter.states?.intersection(states) ?? states
    guard filter.states?.isEmpty == false else { return [] }
    var (ids, end) = ([JobID](), JobID?.none)
    repeat {
      let page = try await backend.ids(filter, before: end, limit: Self.idPageSize)
      ids += page.ids
      end = page.next
    } while end != nil
    return ids.reversed()
  }

  private static let idPageSize = 20_000
}

extension JobCommand {
  /// The filter of a command that changes jobs; nil for other commands.
  @_spi(JobStore) public var filter: JobFilter? {
    switch self {
    case .cancel(let filter), .abandon(let filter), .retry(let filter), .delete(let filter),
      .change(let filter, _), .signal(let filter, _):
      filter
    case .setPaused, .configure, .setMuted, .prune: nil
    }
  }

  /// The states of the jobs that the command can change.
  @_spi(JobStore) public var changedStates: Set<JobState> {
    switch self {
    case .cancel, .signal: JobState.unfinished
    case .abandon: [.running]
    case .retry: [.failed, .cancelled]
    case .delete, .prune: JobState.finished
    case .change: JobState.changeable
    case .setPaused, .configure, .setMuted: []
    }
  }

  /// Whether the command changes finished jobs.
  @_spi(JobStore) public var changesFinished: Bool { changedStates.contains(.failed) }

  /// Returns the same change, but only for certain jobs that match the filter.
  fileprivate func limited(to ids: [JobID]) -> JobCommand {
    guard var filter else { return self }
    filter.ids = ids
    return switch self {
    case .cancel: .cancel(filter)
    case .abandon: .abandon(filter)
    case .retry: .retry(filter)
    case .delete: .delete(filter)
    case .change(_, let change): .change(filter, change)
    case .signal(_, let signal): .signal(filter, signal)
    case .setPaused, .configure, .setMuted, .prune: self
    }
  }
}

extension Array {
  /// Returns the elements in groups of at most this size.
  fileprivate func parts(of size: Int) -> [[Element]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
