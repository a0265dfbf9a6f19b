/// The checks of the workers, and of what they can run.
extension HealthFacts {
  private var working: [JobWorkerSnapshot] { overview.snapshot.workers.filter(\.isWorking) }

  var workers: [JobsHealth.Finding] {
    let workers = overview.snapshot.workers
    let dead = workers.filter { !$0.isAlive }
    guard !working.isEmpty else { return [noWorker] }
    let running = "\(Readable.count(working.count, "worker")) running."
    return findings(dead, "worker", else: .good("Workers", running)) { worker in
      let count = worker.running.count
      let jobs = count == 0 ? "" : " \(Readable.count(count, "job")) that it ran will run again."
      return .warning(
        "Workers",
        "The process of worker \(worker.id) (\(worker.description.name), process "
          + "\(worker.description.processIdentifier)) has died, and no other worker has taken over yet.\(jobs)",
        link: .worker(worker.id))
    }
  }

  private var noWorker: JobsHealth.Finding {
    let unfinished = overview.snapshot.queues.reduce(0) { count, queue in
      count + queue.counts.byState.filter { !$0.key.isFinished }.reduce(0) { $0 + $1.value }
    }
    guard unfinished > 0 else { return .warning("Workers", "No worker is running.") }
    let have = unfinished == 1 ? "has" : "have"
    return .bad("Workers", "No worker is running, and \(jobs(unfinished)) \(have) not ended.")
  }

  var queues: [JobsHealth.Finding] {
    let coverage = WorkerCoverage(overview.snapshot.workers)
    let alone = overview.snapshot.queues.filter { $0.counts[.waiting] > 0 && !coverage.serves($0.name) }
    let good = JobsHealth.Finding.good("Queues", "A worker serves each queue with waiting jobs.")
    return findings(
      alone.sorted { ($1.counts[.waiting], $0.name) < ($0.counts[.waiting], $1.name) }, "queue", else: good
    ) { queue in
      .bad(
        "Queues",
        Readable.sentence(
          jobs(overview.count(of: .waiting, in: queue), "waits", "wait")
            + " in the queue “\(queue.name)”, but no worker serves it"
        ),
        link: .jobs(JobFilter(states: [.waiting], queues: [queue.name])))
    }
  }

  var kinds: [JobsHealth.Finding] {
    var unknown: [(queue: String, jobs: WaitingJobs)] = []
    let coverage = WorkerCoverage(overview.snapshot.workers)
    for queue in overview.snapshot.queues where coverage.serves(queue.name) {
      for jobs in queue.waiting where !coverage.supports(jobs.kind, version: jobs.version, in: queue.name) {
        unknown.append((queue.name, jobs))
      }
    }
    let good = JobsHealth.Finding.good("Kinds", "The workers support the kinds of all waiting jobs.")
    return findings(unknown.sorted { $0.jobs.count > $1.jobs.count }, "kind", else: good) { queue, waiting in
      .bad(
        "Kinds",
        "No running worker supports “\(waiting.kind)”, version \(waiting.version), so "
          + "\(jobs(waiting.count, "waits", "wait")) in “\(queue)”. Start a worker with this kind.",
        link: .jobs(JobFilter(states: [.waiting], queues: [queue], kinds: [waiting.kind])))
    }
  }

  // MARK: Text

  /// Returns a number of jobs, with a verb if one is given.
  func jobs(_ count: JobCount, _ singular: String? = nil, _ plural: String? = nil) -> String {
    let isOne = count == JobCount(1, isExact: true)
    let verb = (isOne ? singular : plural).map { " \($0)" } ?? ""
    let number = Readable.number(count.count)
    return "\(count.isExact ? number : "more than \(number)") job\(isOne ? "" : "s")\(verb)"
  }

  /// Returns a number of jobs that was counted up to the limit of the overview, with a verb if one is given.
  func jobs(_ count: Int, _ singular: String? = nil, _ plural: String? = nil) -> String {
    let limit = overview.countLimit
    return jobs(JobCount(min(count, limit), isExact: count <= limit), singular, plural)
  }
}
