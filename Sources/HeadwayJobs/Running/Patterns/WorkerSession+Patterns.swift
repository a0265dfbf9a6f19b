import Headway
import Synchronization

extension WorkerSession {
  /// The maximum number of queues that one read returns.
  private static let pageSize = 200

  /// Returns whether the worker serves a queue if it has jobs.
  func matches(_ queue: String) -> Bool { patterns.contains { $0.pattern.matches(queue) } }

  /// Finds queues with waiting jobs that match a pattern and are not served yet.
  ///
  /// Hints name new queues, so this function is for queues that existed before, and for lost hints. While no jobs wait,
  /// its cost does not depend on the number of queues.
  ///
  /// - Parameters:
  ///   - place: The last queue that was read; nil to begin. Each call reads one page and continues while pages contain
  ///     new queues. The next call reads the next page.
  ///   - isComplete: Whether all pages are read, from the first page.
  /// - Throws: ``JobError``.
  func findQueues(after place: inout String?, isComplete: Bool) async throws {
    guard !patterns.isEmpty else { return }
    if isComplete { place = nil }
    while true {
      let names = try await store.waitingQueues(after: place, limit: Self.pageSize)
      place = names.count < Self.pageSize ? nil : names.last
      let matching = names.filter(matches)
      let hasNew = state.withLock { $0.noteQueues(matching) }
      if hasNew { exchangeBell.ring() }
      guard place != nil, isComplete || hasNew else { return }
    }
  }

  /// Begins to serve the queues that were found.
  ///
  /// Stops serving queues that have had no jobs for a while.
  ///
  /// It is called when no request is in progress.
  func updateQueues(at time: Duration) {
    guard !patterns.isEmpty else { return }
    let (new, unused) = state.withLock { ($0.takeNewQueues(), $0.removeIdleQueues(at: time)) }
    SharedSlots.ofProcess.leave(unused, self)
    for name in new.sorted() {
      guard let match = patterns.first(where: { $0.pattern.matches(name) }) else { continue }
      let operationQueue = match.makeOperationQueue(name)
      let isFirst = state.withLock { $0.serve(name, on: operationQueue, at: time) }
      if isFirst { SharedSlots.ofProcess.join([operationQueue], self, exchangeBell) }
    }
  }
}
