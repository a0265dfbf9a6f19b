/// Explains why a job does not run.
struct JobDiagnosis {
  let job: JobRecord
  /// The workers, and the paused queues.
  let snapshot: JobsSnapshot
  /// The jobs that a held job waits for.
  var unmet: [JobID] = []
  /// The running jobs, if the job has limits and is waiting.
  var running: [JobRecord] = []

  var sentence: String { "job \(job.id) (\(job.settings.label ?? job.kind.rawValue)) \(predicate)" }

  private var predicate: String {
    switch job.state {
    case .held: heldPredicate
    case .scheduled, .retrying: timedPredicate
    case .waiting: "waits because \(obstacle)"
    case .running: runningPredicate
    case .succeeded: "has succeeded\(at(job.finishedTime)), in attempt \(job.attempt)"
    case .failed: "has failed\(at(job.finishedTime))\(reason)\(lastError)"
    case .cancelled: "was cancelled\(at(job.finishedTime))\(reason)"
    }
  }

  private var heldPredicate: String {
    let first = unmet.prefix(5).map(\.description).joined(separator: ", ")
    switch unmet.count {
    case 0: return "was waiting for other jobs, which have ended in the meantime"
    case 1: return "waits for job \(first)"
    case ...5: return "waits for the jobs \(first)"
    default: return "waits for the jobs \(first) and \(unmet.count - 5) more"
    }
  }

  private var timedPredicate: String {
    let attempts = job.attempt > 0 ? ", after attempt \(job.attempt)\(lastError)" : ""
    guard let due = job.dueTime else { return "waits for a time\(attempts)" }
    if let wait = job.wait, due > snapshot.time { return "waits for \(wait), at most until \(due)\(attempts)" }
    guard due > snapshot.time else {
      return workers.isEmpty
        ? "was due at \(due)\(attempts), but no worker is running to make it ready"
        : "was due at \(due)\(attempts), and will be ready in a moment"
    }
    return "\(job.state == .retrying ? "retries at" : "is scheduled for") \(due)\(attempts)"
  }

  private var runningPredicate: String {
    guard let worker = snapshot.workers.first(where: { $0.id == job.owner }) else {
      return
        "was claimed by worker \(job.owner?.description ?? "?")\(at(job.claimedTime)), which is no longer registered"
    }
    let name = "worker \(worker.id) (\(worker.description.name), process \(worker.description.processIdentifier))"
    guard worker.isAlive else {
      return "was claimed by \(name)\(at(job.claimedTime)), whose process has ended; "
        + "the next living worker returns it to its queue"
    }
    var text = "has been running on \(name) since \(job.claimedTime?.description ?? "?"), in attempt \(job.attempt)"
    if let progress = job.progress {
      text += ", \(Int(progress.fraction * 100)) % done" + (progress.text.map { ": \($0)" } ?? "")
    }
    if job.isCancelRequested {
      text += "; it was cancelled, and its code has not returned yet"
    } else if let timeout = job.settings.timeout, let claimed = job.claimedTime, claimed + timeout < snapshot.time {
      text += "; it has exceeded its time limit, and its code has not returned yet"
    }
    if worker.isStopped { text += "; the worker has stopped, and the job returns to its queue when the process ends" }
    return text
  }

  // MARK: Waiting

  /// The workers that claim jobs.
  private var workers: [JobWorkerSnapshot] { snapshot.workers.filter(\.isWorking) }

  /// The first reason why no worker claims a waiting job.
  private var obstacle: String {
    let queue = snapshot.queues.first { $0.name == job.queue }?.counts
    if queue?.isPaused == true { return "the queue ‘\(job.queue)’ is paused" }
    guard !workers.isEmpty else { return "no worker is running" }
    let serving = workers.filter { $0.description.serves(job.queue) }
    guard !serving.isEmpty else { return "no worker serves the queue ‘\(job.queue)’" }
    guard serving.contains(where: { $0.description.kinds[job.kind] != nil }) else {
      return "no worker of the queue ‘\(job.queue)’ supports the kind ‘\(job.kind)’"
    }
    let able = serving.filter { $0.knows(job.kind, version: job.version) }
    guard !able.isEmpty else {
      return "no worker of the queue ‘\(job.queue)’ supports version \(job.version) of the kind ‘\(job.kind)’"
    }
    if let limit = queue?.settings.maxRunningJobCount {
      let count = snapshot.workers.reduce(0) { $0 + $1.running.count { $0.queue == job.queue } }
      if count >= limit {
        return limit == 0
          ? "the limit of the queue ‘\(job.queue)’ is 0"
          : "the limit of the queue ‘\(job.queue)’ is reached: \(count == 1 ? "1 job runs" : "\(count) jobs run")"
      }
    }
    if let reached = reachedLimit { return reached }
    if let limit = uncertainLimit, able.contains(where: \.running.isEmpty) {
      return "\(limit), or a worker is about to claim it"
    }
    let idle = able.filter(\.running.isEmpty)
    guard idle.isEmpty else {
      return idle.count == 1
        ? "worker \(idle[0].id) is suspended, or about to claim it"
        : "\(idle.count) workers are suspended, or about to claim it"
    }
    let count = able.reduce(0) { $0 + $1.running.count }
    let busy =
      (able.count == 1 ? "worker \(able[0].id) is" : "all \(able.count) workers that could run it are")
      + " busy with \(count == 1 ? "another job" : "\(count) other jobs")"
    guard job.crashCount > 0 else { return busy }
    let dead = job.crashCount == 1 ? "a worker" : "\(job.crashCount) workers"
    return "\(busy), and \(dead) died while running it: a worker runs one such job at a time"
  }

  // MARK: Limits

  /// The first limit of the job that has too few units left because of running jobs.
  private var reachedLimit: String? {
    for limit in job.settings.limits ?? [] {
      guard let slots = limit.slots else { continue }
      let holders = running.compactMap { other in
        other.settings.limits?.first { $0.storedKey == limit.storedKey }?.units
      }
      let used = holders.reduce(0, +)
      guard used > 0, used + limit.units > slots else { continue }
      let count = holders.count == 1 ? "1 job runs" : "\(holders.count) jobs run"
      let areJobs = used == holders.count && limit.units == 1
      return areJobs
        ? "the limit of the key ‘\(limit.key)’ is reached: \(count)"
        : "the limit of the key ‘\(limit.key)’ has \(slots - min(used, slots)) of \(slots) units left, and the job "
          + "takes \(limit.units): \(count)"
    }
    return nil
  }

  /// A limit of the job that might have been reached, although the running jobs don't show it.
  private var uncertainLimit: String? {
    let limits = job.settings.limits ?? []
    if limits.first?.rule == .serial, let key = limits.first?.key {
      return "an earlier job of the serial key ‘\(key)’ has not ended"
    }
    let keys = limits.filter { $0.jobRate != nil }.map { "‘\($0.key)’" }
    guard !keys.isEmpty else { return nil }
    return
      "\(keys.count == 1 ? "the rate of the key" : "a rate of the keys") \(keys.joined(separator: " and ")) permits "
      + "no job now"
  }

  // MARK: Parts

  private func at(_ time: StoreTime?) -> String { time.map { " at \($0)" } ?? "" }

  private var reason: String { job.reason.map { ": \($0)" } ?? "" }

  private var lastError: String { job.history.errors.last.map { "; the last error: \($0.text)" } ?? "" }
}
