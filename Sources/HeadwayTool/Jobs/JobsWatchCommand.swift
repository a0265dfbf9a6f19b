#if Jobs
import ArgumentParser
import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization

struct JobsWatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print changes of jobs, queues, and workers as they happen, until Ctrl-C.",
    discussion: """
      Prints the queues and workers first, and then a line for each change. Jobs that start and end between two reads \
      are printed when they have ended.
      """)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The time between two reads of the store.", valueName: "seconds"))
  var interval = 1.0

  @OptionGroup var options: JobStoreOptions

  func validate() throws {
    guard (0.01...86_400).contains(interval) else {
      throw ValidationError("--interval \(interval): use 0.01 to 86400 seconds.")
    }
  }

  func run() async throws {
    try await options.withStore { _, jobs in
      let watch = Task {
        var watch = JobsWatch(jobs, options)
        try await watch.run(every: .seconds(interval))
      }
      let signals = Signals { watch.cancel() }
      let result = await watch.result
      if let signal = signals.stopSignal { throw ExitCode(128 + signal) }
      try result.get()
    }
  }
}

/// Reads a store repeatedly and prints the changes.
private struct JobsWatch {
  private let jobs: Jobs
  private let options: JobStoreOptions
  /// The jobs that have ended, according to hints, which can be lost.
  private let hints = FinishedJobs()
  /// The jobs that were printed after the last read, with the times when they ended.
  private var printed: [JobID: StoreTime] = [:]

  /// The maximum number of jobs that are printed after a read.
  private static let maxLineCount = 100

  init(_ jobs: Jobs, _ options: JobStoreOptions) {
    self.jobs = jobs
    self.options = options
  }

  mutating func run(every interval: Duration) async throws {
    let token = jobs.backend.observeHints { [hints] hint in if case .finished(let ids) = hint { hints.add(ids) } }
    defer { withExtendedLifetime(token) {} }
    var last = JobsSnapshot(time: jobs.store.now)
    while true {
      let start = ContinuousClock.now
      let ended = hints.take()
      let next = try await jobs.snapshot([.counts, .workers])
      try await show(JobsChanges(from: last, to: next), ended, at: next.time)
      last = next
      // Reading a large store takes at most a tenth of the time.
      try await Task.sleep(for: max(interval, (.now - start) * 9))
    }
  }

  private mutating func show(_ changes: JobsChanges, _ ended: Set<JobID>, at now: StoreTime) async throws {
    for (worker, change) in changes.workers {
      options.show(
        JobsJSON.Worker(worker, event: "worker \(change)"), ["\(change): \(JobText.line(worker, at: now))"])
    }
    for (job, worker) in changes.claimed.prefix(Self.maxLineCount) {
      let event = JobsJSON.Claimed(job: job.id.rawValue, kind: job.kind.rawValue, worker: worker.rawValue)
      options.show(event, ["job \(job.id) (\(job.kind)): claimed by worker \(worker), attempt \(job.attempt)"])
    }
    try await showJobs(ended.union(changes.left))
    for queue in changes.queues { options.show(JobsJSON.Queue(queue, at: now, event: "queue"), [JobText.line(queue)]) }
  }

  /// Prints jobs that have ended or returned to their queues, except those that were already printed.
  private mutating func showJobs(_ ids: Set<JobID>) async throws {
    let shown = ids.sorted().suffix(Self.maxLineCount)
    var found: [JobRecord] = []
    if !shown.isEmpty { found = try await jobs.jobs(JobFilter(ids: Array(shown)), limit: shown.count) }
    for job in found where job.finishedTime == nil || printed[job.id] != job.finishedTime {
      options.show(JobsJSON.Job(job, event: "job"), [JobText.line(job)])
    }
    printed = [:]
    for job in found { printed[job.id] = job.finishedTime }
    let rest = ids.count - shown.count
    if rest > 0 { options.show(JobsJSON.Omitted(jobs: rest), ["\(JobText.count(rest, "more job")) ended"]) }
  }
}

/// The jobs that have ended since the last read.
private final class FinishedJobs: Sendable {
  private let ids = Mutex<Set<JobID>>([])

  func add(_ added: [JobID]) { ids.withLock { $0.formUnion(added) } }

  func take() -> Set<JobID> {
    ids.withLock { ids in
      defer { ids = [] }
      return ids
    }
  }
}

extension JobsJSON {
  fileprivate struct Claimed: Encodable {
    let event = "claimed"
    let job: Int64
    let kind: String
    let worker: Int64
  }

  fileprivate struct Omitted: Encodable {
    let event = "omitted"
    let jobs: Int
  }
}
#endif
