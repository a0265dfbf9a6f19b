import Headway

/// Checks whether a running job may wait for another job to end.
struct WaitInsideJob {
  /// The running job whose code waits.
  let waiting: JobRecord
  let store: any JobStoreBackend

  /// The maximum number of jobs that are read.
  ///
  /// A deadlock that involves more jobs is not detected.
  private static let maxReadCount = 1_000

  /// Throws an error if a job can't begin before the waiting job has ended.
  func check(_ target: JobID) async throws {
    var unread = [target]
    var seen = Set(unread)
    while let id = unread.popLast() {
      guard let reason = try await reason(for: id) else {
        for dependency in try await unmetDependencies(of: id) where seen.count < Self.maxReadCount {
          if seen.insert(dependency).inserted { unread.append(dependency) }
        }
        continue
      }
      throw JobError(
        .wouldDeadlock,
        "Job \(waiting.id) would wait forever for job \(target), because \(reason). Instead of waiting, enqueue what "
          + "comes next as a job after job \(target).")
    }
  }

  /// Returns the reason why a job can't end before the waiting job has ended.
  private func reason(for id: JobID) async throws -> String? {
    if id == waiting.id { return "job \(id) must end first" }
    guard let job = try await store.jobs(.id(id), after: nil, limit: 1).first, !job.state.isFinished,
      job.state != .running
    else { return nil }
    for limit in job.settings.limits ?? [] {
      guard let slots = limit.slots,
        let held = waiting.settings.limits?.first(where: { $0.storedKey == limit.storedKey }),
        limit.weight + held.weight > slots
      else { continue }
      return slots <= 1
        ? "one job of the key “\(limit.key)” runs at a time"
        : "the two jobs together would take more than the \(slots) units of the key “\(limit.key)”"
    }
    guard job.queue == waiting.queue else { return nil }
    let queue = try await store.snapshot([]).queues.first { $0.name == job.queue }
    return queue?.counts.settings.maxRunningJobCount == 1 ? "the queue “\(job.queue)” runs one job at a time" : nil
  }

  private func unmetDependencies(of id: JobID) async throws -> [JobID] {
    try await store.edges(of: [id]).filter { $0.dependent == id && $0.status == .unmet }.map(\.dependency)
  }
}
