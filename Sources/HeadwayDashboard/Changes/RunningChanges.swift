#if Dashboard
import HeadwayJobs
import HeadwayWeb
import Synchronization

/// The changes to many jobs that this process is making.
///
/// A change can take minutes. It continues when the browser closes the connection, and a page shows its progress.
final class RunningChanges: Sendable {
  private struct Change {
    let action: DashboardChange.Action
    var changedCount = 0
    var count = 0
    var result: Result<Int, any Error>?
  }

  private struct State {
    var changes: [String: Change] = [:]
    /// The names of the changes, oldest first.
    var names: [String] = []
  }

  private let state = Mutex(State())

  /// The number of changes whose results are kept.
  private static let maxCount = 100

  /// Begins a change and returns when it has ended or the pause has elapsed.
  ///
  /// - Parameters:
  ///   - action: The action to perform.
  ///   - filter: The jobs to change.
  ///   - search: Finds the jobs of the filter.
  ///   - pause: The maximum time to wait for the change to end.
  /// - Returns: The name of the change.
  /// - Throws: The error of the change, if it has changed no jobs.
  func begin(
    _ action: DashboardChange.Action, _ filter: JobFilter, in search: ListSearch,
    waitingAtMost pause: Duration = .seconds(10)
  ) async throws -> String {
    let name = Secret.make()
    state.withLock { state in
      state.changes[name] = Change(action: action)
      state.names.append(name)
      if state.names.count > Self.maxCount { state.changes[state.names.removeFirst()] = nil }
    }
    let (ends, continuation) = AsyncStream.makeStream(of: Never.self)
    Task { [self] in
      let result: Result<Int, any Error>
      do {
        result = .success(
          try await search.jobs.perform(action.command(search.resolved(filter))) { changedCount, count in
            update(name) { ($0.changedCount, $0.count) = (changedCount, count) }
          })
      } catch {
        result = .failure(error)
      }
      update(name) { $0.result = result }
      continuation.finish()
    }
    await withTaskGroup { group in
      group.addTask { for await _ in ends {} }
      group.addTask { try? await Task.sleep(for: pause) }
      await group.next()
      group.cancelAll()
    }
    if let change = state.withLock({ $0.changes[name] }), change.changedCount == 0 { _ = try change.result?.get() }
    return name
  }

  private func update(_ name: String, _ body: (inout Change) -> Void) {
    state.withLock { state in
      if state.changes[name] != nil { body(&state.changes[name]!) }
    }
  }

  /// Returns a sentence about a change; nil if there is none with this name.
  func text(for name: String) -> String? {
    guard let change = state.withLock({ $0.changes[name] }) else { return nil }
    let done = "\(change.action.pastTense): \(Readable.count(change.changedCount, "job"))"
    switch change.result {
    case nil: return "\(done) of \(Readable.number(change.count)). The change continues."
    case .success(let count): return "\(change.action.pastTense): \(Readable.count(count, "job"))."
    case .failure(let error):
      return "\(done) of \(Readable.number(change.count)). Then the change stopped. \(Refusal(error).text)"
    }
  }
}
#endif
