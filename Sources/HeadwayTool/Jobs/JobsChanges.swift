#if Jobs
@_spi(JobStore) import HeadwayJobs

/// The changes of a store between two snapshots.
struct JobsChanges {
  /// Queues whose counts, pause, or settings have changed.
  private(set) var queues: [JobQueueSnapshot] = []
  /// Workers that have started, left, died, or stopped, each with the change.
  private(set) var workers: [(worker: JobWorkerSnapshot, change: String)] = []
  /// Jobs that have been claimed since the first snapshot.
  private(set) var claimed: [(job: RunningJob, worker: WorkerID)] = []
  /// Jobs that were running before, but no longer run.
  private(set) var left: Set<JobID> = []

  init(from old: JobsSnapshot, to new: JobsSnapshot) {
    compareQueues(old, new)
    compareWorkers(old, new)
    compareJobs(old, new)
  }

  private mutating func compareQueues(_ old: JobsSnapshot, _ new: JobsSnapshot) {
    for queue in new.queues where old.queues.first(where: { $0.name == queue.name })?.counts != queue.counts {
      queues.append(queue)
    }
    for queue in old.queues where !new.queues.contains(where: { $0.name == queue.name }) {
      queues.append(JobQueueSnapshot(name: queue.name))
    }
  }

  private mutating func compareWorkers(_ old: JobsSnapshot, _ new: JobsSnapshot) {
    for worker in new.workers {
      let before = old.workers.first { $0.id == worker.id }
      if before == nil { workers.append((worker, "started")) }
      if !worker.isAlive, before?.isAlive != false { workers.append((worker, "died")) }
      if worker.isStopped, before?.isStopped != true { workers.append((worker, "stopped")) }
    }
    for worker in old.workers where !new.workers.contains(where: { $0.id == worker.id }) {
      workers.append((worker, "left"))
    }
  }

  private mutating func compareJobs(_ old: JobsSnapshot, _ new: JobsSnapshot) {
    let before = Set(old.workers.flatMap(\.running).map(Attempt.init))
    let now = Set(new.workers.flatMap(\.running).map(Attempt.init))
    for worker in new.workers {
      for job in worker.running where !before.contains(Attempt(job)) { claimed.append((job, worker.id)) }
    }
    left = Set(before.subtracting(now).map(\.id)).subtracting(now.map(\.id))
  }

  private struct Attempt: Hashable {
    let id: JobID
    let claimed: StoreTime

    init(_ job: RunningJob) { (id, claimed) = (job.id, job.claimedTime) }
  }
}
#endif
