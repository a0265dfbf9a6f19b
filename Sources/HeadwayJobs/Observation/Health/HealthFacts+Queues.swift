/// The checks of queues: how long jobs wait, and whether more jobs come than end.
extension HealthFacts {
  /// The queues with waiting jobs that a worker serves, and that are not paused.
  ///
  /// Other checks find the other ones.
  private var served: [JobQueueSnapshot] {
    let coverage = WorkerCoverage(overview.snapshot.workers)
    return overview.snapshot.queues.filter { queue in
      queue.counts[.waiting] > 0 && !queue.counts.isPaused && coverage.serves(queue.name)
    }
  }

  private func link(_ queue: JobQueueSnapshot) -> JobsHealth.Link {
    .jobs(JobFilter(states: [.waiting], queues: [queue.name]))
  }

  /// The longest wait of a queue whose jobs wait unusually long.
  private struct LateQueue {
    let queue: JobQueueSnapshot
    let wait: Duration
    /// How long 95% of the jobs of the last hour had waited; nil if none has started.
    let usual: Duration?
  }

  var waits: [JobsHealth.Finding] {
    let late = served.compactMap { queue -> LateQueue? in
      guard let start = queue.oldestWaitStartTime, overview.time - start > options.maxWait else { return nil }
      let (wait, usual) = (overview.time - start, rates.usualWait(in: queue.name))
      return usual.map { wait > $0 * 2 } ?? true ? LateQueue(queue: queue, wait: wait, usual: usual) : nil
    }
    let good = JobsHealth.Finding.good("Waits", "No job has waited unusually long for a worker.")
    let ordered = late.sorted { ($0.usual == nil ? 0 : 1, $1.wait) < ($1.usual == nil ? 0 : 1, $0.wait) }
    return findings(ordered, "queue", else: good) { late in
      let text = "The oldest job in “\(late.queue.name)” has waited for \(Readable.duration(late.wait))"
      guard rates.areKnown else { return .warning("Waits", "\(text).", link: link(late.queue)) }
      guard let usual = late.usual else {
        return .bad(
          "Waits", "\(text), and no job of the queue has started in the last hour. See why it waits.",
          link: link(late.queue))
      }
      return .warning(
        "Waits",
        "\(text). In the last hour, 95% of the jobs of the queue waited for at most \(Readable.duration(usual)).",
        link: link(late.queue))
    }
  }

  var growth: [JobsHealth.Finding] {
    let minutes = Readable.duration(RecentRates.interval)
    let growing = served.compactMap { queue -> (queue: JobQueueSnapshot, activity: JobActivity)? in
      guard let activity = rates.queues[queue.name],
        activity.enqueued - activity.ended > options.maxFailureCount,
        workTime(of: queue, activity) ?? .seconds(Int64.max) > options.maxWait
      else { return nil }
      return (queue, activity)
    }
    let ordered = growing.sorted {
      ($1.activity.enqueued - $1.activity.ended, $0.queue.name) < (
        $0.activity.enqueued - $0.activity.ended, $1.queue.name
      )
    }
    let good = JobsHealth.Finding.good("Growth", "No queue grows faster than its jobs end.")
    return findings(ordered, "queue", else: good) { queue, activity in
      let time = workTime(of: queue, activity).map { ", which would take \(Readable.duration($0)) at this rate" }
      return .warning(
        "Growth",
        "“\(queue.name)” grows: \(Readable.count(activity.enqueued, "job")) were added in the last \(minutes), and "
          + "\(Readable.number(activity.ended)) ended. "
          + Readable.sentence(jobs(overview.count(of: .waiting, in: queue), "waits", "wait") + (time ?? "")),
        link: link(queue))
    }
  }

  /// Returns how long the waiting jobs of a queue would take at a rate; nil if no job ends.
  private func workTime(of queue: JobQueueSnapshot, _ activity: JobActivity) -> Duration? {
    activity.ended == 0 ? nil : RecentRates.interval * (Double(queue.counts[.waiting]) / Double(activity.ended))
  }

  /// Queues that accept no further job.
  var room: [JobsHealth.Finding] {
    let full = overview.snapshot.queues.compactMap { queue -> (name: String, limit: Int)? in
      guard let limit = queue.counts.settings.maxPendingJobCount else { return nil }
      let count = queue.counts.byState.reduce(0) { $0 + ($1.key.isPending ? $1.value : 0) }
      // If many queues have many jobs, fewer of them are counted.
      return count >= min(limit, overview.countLimit) ? (queue.name, limit) : nil
    }
    let good = JobsHealth.Finding.good("Room", "Each queue accepts further jobs.")
    return findings(full, "queue", else: good) { name, limit in
      .bad(
        "Room",
        "The queue “\(name)” is full: its limit is \(Readable.count(limit, "job")). Enqueueing waits or fails. Add "
          + "workers, or raise the limit.", link: .queue(name))
    }
  }

  var paused: [JobsHealth.Finding] {
    let paused = overview.snapshot.queues.filter(\.counts.isPaused)
    let good = JobsHealth.Finding.good("Pauses", "No queue is paused.")
    return findings(
      paused.sorted { ($1.counts[.waiting], $0.name) < ($0.counts[.waiting], $1.name) }, "queue", else: good
    ) { queue in
      let (waiting, failures) = (overview.count(of: .waiting, in: queue), queue.counts.failureCount)
      let isAutomatic = queue.counts.settings.maxFailureCount.map { failures >= $0 } ?? false
      let reason = isAutomatic ? " because \(Readable.number(failures)) attempts in a row failed" : ""
      return .warning(
        "Pauses",
        "The queue “\(queue.name)” is paused\(reason)"
          + (waiting.count > 0 ? ", and \(jobs(waiting, "waits", "wait"))." : "."), link: .queue(queue.name))
    }
  }
}
