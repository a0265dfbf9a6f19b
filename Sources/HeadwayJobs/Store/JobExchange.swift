/// A request of a worker to a store: the endings of attempts, and the number of jobs that the worker could run.
@_spi(JobStore) public struct JobExchange: Hashable, Sendable {
  /// The worker.
  public var worker: WorkerID
  /// The endings of attempts.
  public var endings: [JobEnding]
  /// The claims of the worker, each for a queue.
  public var claims: [JobClaim]
  /// The attempts that the worker runs, after a request whose answer was lost; otherwise nil.
  ///
  /// The store gives back all other jobs of the worker before it claims new ones, because the worker has not received
  /// them.
  public var running: Set<JobFence>?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - worker: The worker that sends the request.
  ///   - endings: The endings of attempts.
  ///   - claims: The claims of the worker, each for a queue.
  ///   - running: The attempts that the worker runs, after a request whose answer was lost.
  public init(
    worker: WorkerID, endings: [JobEnding] = [], claims: [JobClaim] = [], running: Set<JobFence>? = nil
  ) {
    self.worker = worker
    self.endings = endings
    self.claims = claims
    self.running = running
  }
}

/// The ending of an attempt.
public struct JobEnding: Hashable, Sendable {
  /// How an attempt ends.
  public enum Action: Hashable, Sendable {
    /// The job succeeds, with a result if there is one.
    case succeed(result: JobPayload?)
    /// The attempt fails, and the job runs again after a pause.
    case retry(after: Duration, JobErrorDescription)
    /// The job fails.
    case fail(JobEndReason, JobErrorDescription?)
    /// The job runs again after a pause. The attempt is not counted.
    case snooze(Duration)
    /// The job waits without a worker until its signal arrives, or until a time. After that, it has all its attempts
    /// again.
    case wait(JobWait, until: StoreTime)
    /// The job returns to its queue. The attempt is not counted.
    case release
    /// The job is cancelled.
    case cancel(JobEndReason)
  }

  /// The attempt.
  @_spi(JobStore) public var fence: JobFence
  /// How the attempt ends.
  @_spi(JobStore) public var action: Action

  /// Creates an ending.
  ///
  /// - Parameters:
  ///   - fence: The fence of the attempt that ends.
  ///   - action: How it ends.
  @_spi(JobStore) public init(_ fence: JobFence, _ action: Action) {
    self.fence = fence
    self.action = action
  }
}

/// The stored description of an error.
public struct JobErrorDescription: Hashable, Sendable {
  /// The name of the error's type.
  public var type: String
  /// The description of the error.
  public var text: String

  /// Creates a description.
  ///
  /// - Parameters:
  ///   - type: The name of the error's type.
  ///   - text: The description of the error.
  @_spi(JobStore) public init(type: String, text: String) {
    self.type = type
    self.text = text
  }

  /// Describes an error.
  ///
  /// - Parameter error: The error that the code of a job has thrown.
  @_spi(JobStore) public init(_ error: any Error) {
    self.init(type: String(reflecting: Swift.type(of: error)), text: String(describing: error))
  }
}

/// A claim: a number of jobs of a queue that a worker could run.
@_spi(JobStore) public struct JobClaim: Hashable, Sendable {
  /// The queue of the store.
  public var queue: String
  /// The maximum number of jobs.
  public var count: Int
  /// Whether one of the jobs can be a suspect: a job during which a process has crashed.
  ///
  /// A worker runs one suspect at a time, so that another crash is attributed to the right job.
  public var allowsSuspect: Bool
  /// The number of jobs that can begin immediately.
  ///
  /// A suspect must be among these first jobs of the claim.
  public var freeSlotCount: Int
  /// The kinds that the worker supports, with the newest version of each.
  public var kinds: [JobKind: Int]
  /// The number of a group of claims of the same exchange that return at most `count` jobs in total; nil for none.
  public var group: Int?
  /// Whether the claim must read all jobs that wait in the queue.
  ///
  /// Other claims can skip jobs for a limited time, for example jobs that another process has put at an earlier place
  /// of the queue. A worker that stops when no job can run relies on exhaustive claims.
  public var isExhaustive: Bool

  /// Creates a claim.
  ///
  /// - Parameters:
  ///   - queue: The queue of the store.
  ///   - count: The maximum number of jobs.
  ///   - allowsSuspect: Whether one of them can be a suspect.
  ///   - freeSlotCount: The number of jobs that can begin immediately; `count` by default.
  ///   - kinds: The kinds that the worker supports, with the newest version of each.
  ///   - group: The number of a group of claims of the same exchange that return at most `count` jobs together.
  ///   - isExhaustive: Whether the claim must read all jobs that wait in the queue.
  public init(
    queue: String, count: Int, allowsSuspect: Bool, freeSlotCount: Int? = nil, kinds: [JobKind: Int],
    group: Int? = nil, isExhaustive: Bool = false
  ) {
    self.queue = queue
    self.count = count
    self.allowsSuspect = allowsSuspect
    self.freeSlotCount = freeSlotCount ?? count
    self.kinds = kinds
    self.group = group
    self.isExhaustive = isExhaustive
  }
}

@_spi(JobStore) extension JobExchange {
  /// Calls a function that claims jobs for each claim in order, with the number of jobs that the claim's group can
  /// still claim.
  ///
  /// All claims return a total of at most ``JobCommand/maxChangedCount`` jobs.
  ///
  /// - Parameter claim: The function of a store. It is not called for a claim that can't return further jobs.
  /// - Returns: The claimed jobs of each claim.
  /// - Throws: The error of the function.
  public func claimed<Failure>(
    _ claim: (JobClaim) throws(Failure) -> [JobRecord]
  ) throws(Failure) -> [[JobRecord]] {
    var (claimed, taken, left) = ([[JobRecord]](), [Int: Int](), JobCommand.maxChangedCount)
    for var rest in claims {
      let count = rest.group.flatMap { taken[$0] } ?? 0
      (rest.count, rest.freeSlotCount) = (min(rest.count - count, left), max(0, rest.freeSlotCount - count))
      let jobs = rest.count > 0 ? try claim(rest) : []
      claimed.append(jobs)
      left -= jobs.count
      if let group = rest.group { taken[group] = count + jobs.count }
    }
    return claimed
  }
}

/// The answer of a store to an exchange.
@_spi(JobStore) public struct JobExchangeAnswer: Hashable, Sendable {
  /// The result for an ending.
  public enum Verdict: Hashable, Sendable {
    /// The ending was recorded, now or by an earlier request whose answer was lost.
    case recorded
    /// The ending was rejected, because the job no longer runs under that attempt.
    case refused
  }

  /// The result for each ending of the request, in order.
  public var verdicts: [Verdict]
  /// The claimed jobs for each claim of the request, in order.
  ///
  /// Run the jobs of a claim in this order.
  public var claimed: [[JobRecord]]

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - verdicts: The result for each ending.
  ///   - claimed: The claimed jobs of each claim.
  public init(verdicts: [Verdict], claimed: [[JobRecord]]) {
    self.verdicts = verdicts
    self.claimed = claimed
  }
}

/// A write of a running attempt.
@_spi(JobStore) public struct FencedWrite: Hashable, Sendable {
  /// The content of the write.
  public enum Content: Hashable, Sendable {
    /// The value of a step, which later attempts read by its name.
    case checkpoint(name: String, value: JobPayload)
    /// The progress of the job.
    case progress(JobProgress)
    /// A line for the history of the job.
    case log(String)
    /// A new job, which is stored only if the attempt still runs.
    case enqueue(NewJob)
    /// New jobs, which are stored as a whole, and only if the attempt still runs.
    ///
    /// If they are added before the dependents, the jobs that wait for the job of the attempt also wait for them. The
    /// new jobs can then depend only on each other.
    case enqueueBatch([NewJob], beforeDependents: Bool)
    /// Determines the outcome of a wait and stores it, or begins the wait.
    ///
    /// The number counts the equal waits of the job, from 1. The time limit, or the length of a sleep, counts from the
    /// first request for the wait.
    case wait(JobWait, number: Int, timeLimit: Duration)
  }

  /// The attempt.
  public var fence: JobFence
  /// The content of the write.
  public var content: Content

  /// Creates a write.
  ///
  /// - Parameters:
  ///   - fence: The fence of the attempt that writes.
  ///   - content: The content of the write.
  public init(_ fence: JobFence, _ content: Content) {
    self.fence = fence
    self.content = content
  }
}

/// The answer of a store to a ``FencedWrite``.
@_spi(JobStore) public enum FencedAnswer: Hashable, Sendable {
  /// The content was written.
  case written
  /// The new job was stored, or another job holds its key.
  case enqueued(Enqueued)
  /// The new jobs were stored, except those whose key another job holds.
  case enqueuedBatch([Enqueued])
  /// The wait has ended; the value is the value of its signal, or nil if no signal arrived in time.
  case waited(JobPayload?)
  /// The job must wait, at most until this time.
  case waits(until: StoreTime)
  /// The attempt no longer runs the job.
  case refused
  /// The queue of the new job is full.
  case queueFull
}

/// The report of a store to a living worker.
@_spi(JobStore) public struct WorkerBeat: Hashable, Sendable {
  /// Whether the store still knows the worker.
  ///
  /// If not, its jobs might run elsewhere.
  public var isRegistered: Bool
  /// The attempts whose jobs were cancelled.
  public var cancellations: Set<JobFence>
  /// The attempts that no longer run their jobs.
  public var lost: Set<JobFence>

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - isRegistered: Whether the store still knows the worker.
  ///   - cancellations: The attempts whose jobs were cancelled.
  ///   - lost: The attempts that no longer run their jobs.
  public init(isRegistered: Bool, cancellations: Set<JobFence> = [], lost: Set<JobFence> = []) {
    self.isRegistered = isRegistered
    self.cancellations = cancellations
    self.lost = lost
  }
}

/// A description of a worker, which a store keeps until the worker is removed.
public struct WorkerDescription: Hashable, Codable, Sendable {
  /// A readable name, for example the name of the program.
  public var name: String
  /// The process identifier.
  public var processIdentifier: Int32
  /// The queues of the store that the worker serves.
  public var queues: [String]
  /// The patterns of further queues that the worker serves.
  ///
  /// A `*` represents any number of characters.
  public var queuePatterns: [String]
  /// The kinds that the worker supports, with the newest version of each.
  public var kinds: [JobKind: Int]

  /// Creates a description.
  ///
  /// - Parameters:
  ///   - name: A readable name, for example the name of the program.
  ///   - processIdentifier: The identifier of the worker's process.
  ///   - queues: The queues of the store that the worker serves.
  ///   - queuePatterns: The patterns of further queues that the worker serves.
  ///   - kinds: The kinds that the worker supports, with the newest version of each.
  @_spi(JobStore) public init(
    name: String, processIdentifier: Int32, queues: [String], queuePatterns: [String] = [], kinds: [JobKind: Int]
  ) {
    self.name = name
    self.processIdentifier = processIdentifier
    self.queues = queues
    self.queuePatterns = queuePatterns
    self.kinds = kinds
  }

  /// The stored form.
  @_spi(JobStore) public var stored: [UInt8] { StoredForm.encode(self) }

  /// Creates a description from its stored form.
  ///
  /// - Parameter stored: The bytes that the store contains.
  /// - Throws: `DecodingError` if the bytes are not valid.
  @_spi(JobStore) public init(stored: [UInt8]) throws { self = try StoredForm.decode(Self.self, stored) }

  /// Returns whether the worker serves a queue.
  ///
  /// - Parameter queue: The name of the queue.
  /// - Returns: Whether the queue is one of the ``queues``, or matches one of the ``queuePatterns``.
  public func serves(_ queue: String) -> Bool {
    queues.contains(queue) || queuePatterns.contains { QueuePattern($0).matches(queue) }
  }

  /// The queues and the patterns, for lists of workers.
  package var servedNames: [String] { queues.sorted() + queuePatterns.sorted() }
}

extension JobEnding.Action {
  /// The ending in a word, for metrics and spans.
  package var status: String {
    switch self {
    case .succeed: "succeeded"
    case .retry: "retried"
    case .fail: "failed"
    case .snooze: "snoozed"
    case .wait: "suspended"
    case .release: "released"
    case .cancel: "cancelled"
    }
  }
}
