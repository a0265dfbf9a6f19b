/// A job as a store keeps it.
public struct JobRecord: Hashable, Sendable {
  /// The ID of the job.
  public var id: JobID
  /// The queue that the job waits in.
  public var queue: String
  /// The kind of the job.
  public var kind: JobKind
  /// The version of the payload.
  public var version: Int
  /// The encoded job.
  public var payload: JobPayload
  /// The state.
  public var state: JobState
  /// The priority; the raw value of a `QueuePriority`.
  public var priority: Int
  /// The place among the waiting jobs of the same queue and priority.
  ///
  /// Jobs are ordered by position, in ascending order.
  @_spi(JobStore) public var position: Int64 = 0
  /// When the job took that place.
  ///
  /// For aging, its waiting time counts from then.
  public var readyTime: StoreTime
  /// When a scheduled job, or the next attempt of a retrying job, is due.
  public var dueTime: StoreTime?
  /// The wait of a scheduled job, which lasts at most until ``dueTime``; nil if the job waits only for its time.
  public var wait: JobWait?
  /// The time when the job is cancelled if it has not started.
  public var deadline: StoreTime?
  /// When the job was stored.
  public var enqueuedTime: StoreTime
  /// When the job was last claimed.
  public var claimedTime: StoreTime?
  /// When the first attempt was claimed; after a wait for a signal or a sleep, the first attempt since then.
  public var firstClaimedTime: StoreTime?
  /// When the job ended.
  public var finishedTime: StoreTime?
  /// When the finished job can be deleted.
  public var expirationTime: StoreTime?
  /// The number of the current or last attempt, from 1; 0 before the first attempt.
  ///
  /// Attempts that ended with a snooze, were given back, or were interrupted are not counted. When the job waits for a
  /// signal or sleeps, the number becomes 0.
  public var attempt = 0
  /// The number of times that a process died while it ran the job.
  public var crashCount = 0
  /// The number of times that the job has snoozed.
  public var snoozeCount = 0
  /// The number of times that the job was claimed or abandoned.
  ///
  /// It never decreases.
  @_spi(JobStore) public var epoch = 0
  /// The worker that has claimed the job, or that ran its last attempt.
  public var owner: WorkerID?
  /// Whether the running job has a request to cancel it.
  public var isCancelRequested = false
  /// The number of jobs that a held job waits for.
  @_spi(JobStore) public var unmetCount = 0
  /// Whether other jobs wait for the unfinished job, or have waited for it.
  @_spi(JobStore) public var hasDependents = false
  /// Whether the job holds its ``JobSettings/unique`` key.
  @_spi(JobStore) public var holdsKey = false
  /// The other options.
  public var settings: JobSettings
  /// The errors, changes and log lines of earlier attempts.
  public var history = JobHistory()
  /// The group of the last attempt that has failed; nil if none has failed since the last success.
  ///
  /// A job that succeeds, or waits for a signal or sleeps, has reached the end of what its errors prevented.
  public var errorGroup: JobErrorGroup.ID?
  /// The last stored progress.
  public var progress: JobProgress?
  /// Why the job failed or was cancelled.
  public var reason: JobEndReason?
  /// A description of the parts of the stored job that can't be read, if any.
  ///
  /// These parts have default values. Such a job fails with the reason ``JobEndReason/Code/damaged`` instead of being
  /// claimed.
  public var damage: String?
  /// The encoded result of a job that has succeeded.
  public var result: JobPayload?

  /// Creates the record of a new job.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - job: The job that was added, with its options.
  ///   - now: The time of the store's clock.
  @_spi(JobStore) public init(id: JobID, _ job: NewJob, at now: StoreTime) {
    self.id = id
    queue = job.queue
    kind = job.kind
    version = job.version
    payload = job.payload
    priority = job.priority
    dueTime = job.delay.map { now + $0 } ?? job.startTime
    deadline = job.deadline
    (enqueuedTime, readyTime) = (now, now)
    settings = job.settings
    // A time in the past has no effect. Otherwise, a store would advance for the job again and again.
    if let time = dueTime, time <= now { dueTime = nil }
    state = dueTime == nil ? .waiting : .scheduled
  }

  /// Creates a record from its required parts, for a store that reads it.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - queue: The queue that the job waits in.
  ///   - kind: The kind of the job.
  ///   - version: The version of the payload.
  ///   - payload: The payload of the job.
  ///   - state: The current state of the job.
  ///   - priority: The priority of the job.
  ///   - enqueuedTime: When the job was stored.
  ///   - settings: All other options of the job.
  @_spi(JobStore) public init(
    id: JobID, queue: String, kind: JobKind, version: Int, payload: JobPayload, state: JobState, priority: Int,
    enqueuedTime: StoreTime, settings: JobSettings
  ) {
    self.id = id
    self.queue = queue
    self.kind = kind
    self.version = version
    self.payload = payload
    self.state = state
    self.priority = priority
    self.enqueuedTime = enqueuedTime
    readyTime = enqueuedTime
    self.settings = settings
  }

  /// The fence of the current or last attempt; nil if there was none, or the job was rescued.
  @_spi(JobStore) public var fence: JobFence? {
    owner.map { JobFence(id: id, attempt: attempt, epoch: epoch, owner: $0) }
  }

  /// Returns whether an attempt still runs the job.
  ///
  /// - Parameter fence: The fence of the attempt.
  /// - Returns: True if the job is running under that attempt.
  @_spi(JobStore) public func isRun(by fence: JobFence) -> Bool { state == .running && self.fence == fence }
}

extension JobRecord: Codable {
  /// Decodes a job.
  ///
  /// Parts that an earlier version of Headway did not encode have their default values.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys, or standard: Value) throws -> Value {
      try values.decodeIfPresent(Value.self, forKey: key) ?? standard
    }
    func value<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
      try values.decodeIfPresent(Value.self, forKey: key)
    }
    self.init(
      id: try values.decode(JobID.self, forKey: .id), queue: try values.decode(String.self, forKey: .queue),
      kind: try values.decode(JobKind.self, forKey: .kind), version: try values.decode(Int.self, forKey: .version),
      payload: try values.decode(JobPayload.self, forKey: .payload),
      state: try values.decode(JobState.self, forKey: .state),
      priority: try values.decode(Int.self, forKey: .priority),
      enqueuedTime: try values.decode(StoreTime.self, forKey: .enqueuedTime),
      settings: try value(.settings, or: JobSettings()))
    (position, readyTime) = (try value(.position, or: 0), try value(.readyTime, or: enqueuedTime))
    (dueTime, deadline, wait) = (try value(.dueTime), try value(.deadline), try value(.wait))
    (claimedTime, firstClaimedTime) = (try value(.claimedTime), try value(.firstClaimedTime))
    (finishedTime, expirationTime) = (try value(.finishedTime), try value(.expirationTime))
    (attempt, epoch, owner) = (try value(.attempt, or: 0), try value(.epoch, or: 0), try value(.owner))
    (crashCount, snoozeCount) = (try value(.crashCount, or: 0), try value(.snoozeCount, or: 0))
    isCancelRequested = try value(.isCancelRequested, or: false)
    (unmetCount, hasDependents) = (try value(.unmetCount, or: 0), try value(.hasDependents, or: false))
    holdsKey = try value(.holdsKey, or: false)
    (history, errorGroup) = (try value(.history, or: JobHistory()), try value(.errorGroup))
    (progress, reason) = (try value(.progress), try value(.reason))
    (damage, result) = (try value(.damage), try value(.result))
  }
}

/// The progress of a job.
public struct JobProgress: Hashable, Codable, Sendable {
  /// The completed part, from 0 to 1.
  public var fraction: Double
  /// A readable description.
  public var text: String?

  /// Creates a progress value.
  ///
  /// - Parameters:
  ///   - fraction: The completed part, which is limited to the range from 0 to 1.
  ///   - text: A readable description of the current step. It is shortened to ``JobErrorRecord/maxTextLength`` bytes.
  public init(fraction: Double, text: String? = nil) {
    self.fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    self.text = text?.shortened(to: JobErrorRecord.maxTextLength)
  }
}

/// Why a job failed or was cancelled.
public struct JobEndReason: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The kind of reason.
  public enum Code: String, Hashable, Codable, Sendable {
    /// The last attempt failed.
    case failed
    /// The job threw ``JobOutcome/discard(_:)``.
    case discarded
    /// The job snoozed too often.
    case snoozedTooOften
    /// Several processes died while they ran the job.
    case crashed
    /// The job was cancelled.
    case cancelled
    /// The job was cancelled while it was running, and taken from its worker.
    case abandoned
    /// The job did not start before its deadline.
    case expired
    /// Another job held its key when it returned to its queue.
    case superseded
    /// A job that had to succeed first failed or was cancelled.
    case dependencyFailed
    /// A part of the stored job can't be read.
    case damaged
  }

  /// The kind of reason.
  public var code: Code
  /// A readable description of the details.
  public var text: String
  /// The job that failed or was cancelled first, if that is why this job was cancelled.
  public var culprit: JobID?

  /// Creates a reason.
  ///
  /// - Parameters:
  ///   - code: The kind of reason.
  ///   - text: A readable description of the details. It is shortened to ``JobErrorRecord/maxTextLength`` bytes.
  ///   - culprit: The job that failed or was cancelled first, if that is why this job was cancelled.
  public init(_ code: Code, _ text: String = "", culprit: JobID? = nil) {
    self.code = code
    self.text = text.shortened(to: JobErrorRecord.maxTextLength)
    self.culprit = culprit
  }

  /// The kind and the details.
  public var description: String { text.isEmpty ? code.rawValue : "\(code.rawValue): \(text)" }
}
