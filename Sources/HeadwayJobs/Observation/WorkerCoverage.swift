/// The queues and kinds of the workers that claim jobs, for checks of many queues.
///
/// Most workers of a fleet have the same queues and kinds, so the workers are compared only once.
package struct WorkerCoverage: Sendable {
  private struct Profile: Hashable {
    let names: Set<String>
    let patterns: [String]
    let kinds: [JobKind: Int]
  }

  private let profiles: [(profile: Profile, patterns: [QueuePattern])]

  /// Reads the queues and kinds of the workers that claim jobs.
  ///
  /// - Parameter workers: The workers of a store.
  package init(_ workers: [JobWorkerSnapshot]) {
    let descriptions = workers.filter(\.isWorking).map(\.description)
    let distinct = Set(
      descriptions.map { Profile(names: Set($0.queues), patterns: $0.queuePatterns, kinds: $0.kinds) })
    profiles = distinct.map { ($0, $0.patterns.map { QueuePattern($0) }) }
  }

  /// Returns whether a worker serves a queue.
  package func serves(_ queue: String) -> Bool { profiles.contains { Self.serves(queue, $0) } }

  /// Returns whether a worker serves a queue and supports a kind in a version.
  ///
  /// - Parameters:
  ///   - kind: The kind of the jobs.
  ///   - version: The version of the payloads.
  ///   - queue: The name of the queue.
  /// - Returns: Whether there is such a worker.
  package func supports(_ kind: JobKind, version: Int, in queue: String) -> Bool {
    profiles.contains { entry in
      entry.profile.kinds[kind].map { version <= $0 } ?? false && Self.serves(queue, entry)
    }
  }

  private static func serves(_ queue: String, _ entry: (profile: Profile, patterns: [QueuePattern])) -> Bool {
    entry.profile.names.contains(queue) || entry.patterns.contains { $0.matches(queue) }
  }
}
