@_spi(JobStore) extension MemoryJobs {
  /// Returns the number of jobs of each queue in each state, and the pauses and settings of queues.
  ///
  /// - Parameter includesJobs: Whether to count the jobs.
  /// - Returns: The counts, by queue.
  public func counts(includesJobs: Bool) -> [String: JobQueueCounts] {
    var counts: [String: JobQueueCounts] = [:]
    for (name, queue) in queues { counts[name] = JobQueueCounts(queue) }
    guard includesJobs else { return counts }
    for job in jobs.values { counts[job.queue, default: JobQueueCounts()].byState[job.state, default: 0] += 1 }
    return counts
  }

  /// Returns the queues, workers and failures.
  ///
  /// - Parameters:
  ///   - parts: The parts to read.
  ///   - now: The time of the store's clock.
  /// - Returns: A snapshot with the requested parts.
  public func snapshot(_ parts: JobsSnapshot.Parts, at now: StoreTime) -> JobsSnapshot {
    JobsSnapshot(
      time: now, counts: counts(includesJobs: parts.contains(.counts)),
      waiting: parts.contains(.waiting) ? waitingJobs() : [:],
      workers: parts.contains(.workers) ? workers.map { snapshot(of: $0, $1) } : [],
      failures: parts.contains(.failures) ? failures() : [])
  }

  private func snapshot(of worker: WorkerID, _ description: WorkerDescription) -> JobWorkerSnapshot {
    JobWorkerSnapshot(
      id: worker, description: description, startTime: starts[worker] ?? StoreTime(microseconds: 0),
      isAlive: !dead.contains(worker), isStopped: stopped.contains(worker),
      running: runningJobs(of: worker).compactMap { RunningJob($0) })
  }

  private func waitingJobs() -> [String: [WaitingJobs]] {
    struct Group: Hashable {
      let queue: String
      let kind: JobKind
      let version: Int
    }
    let waiting = jobs.values.filter { $0.state == .waiting }
    let groups = Dictionary(grouping: waiting) { Group(queue: $0.queue, kind: $0.kind, version: $0.version) }
    var waitingJobs: [String: [WaitingJobs]] = [:]
    for (group, jobs) in groups {
      guard let first = jobs.min(by: { $0.position < $1.position }) else { continue }
      waitingJobs[group.queue, default: []].append(
        WaitingJobs(
          kind: group.kind, version: group.version, count: jobs.count, first: first.id,
          waitStartTime: first.waitStartTime))
    }
    return waitingJobs
  }

  private func failures() -> [FailedJobs] {
    Dictionary(grouping: jobs.values.filter { $0.state == .failed }, by: \.kind).compactMap { kind, jobs in
      let last = jobs.max { ($0.finishedTime ?? $0.enqueuedTime, $0.id) < ($1.finishedTime ?? $1.enqueuedTime, $1.id) }
      guard let last, let time = last.finishedTime else { return nil }
      return FailedJobs(kind: kind, count: jobs.count, last: last.id, time: time)
    }
  }
}
