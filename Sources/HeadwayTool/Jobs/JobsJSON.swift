#if Jobs
import HeadwayJobs

/// The objects that the commands for jobs print with `--json`.
///
/// `Docs/tool-json.md` documents the fields.
enum JobsJSON {
  /// How many jobs or queues a command has changed.
  struct Changed: Encodable {
    let changed: Int

    init(_ changed: Int) { self.changed = changed }
  }

  /// How many jobs one of the changes of `edit` has changed.
  struct Edited: Encodable {
    let change: String
    let changed: Int
  }

  /// The health of a store.
  struct Health: Encodable {
    struct Finding: Encodable {
      let level: JobsHealth.Level
      let name: String
      let text: String
      /// The command that shows what the finding is about.
      let command: String?
    }

    let level: JobsHealth.Level
    let findings: [Finding]

    init(_ findings: [JobsHealth.Finding], _ text: HealthText) {
      level = text.health.level
      self.findings = findings.map { finding in
        Finding(level: finding.level, name: finding.name, text: finding.text, command: text.command(for: finding))
      }
    }
  }

  /// The result of a check.
  struct Checked: Encodable {
    let defects: [String]
    let deadWorkers: [Int64]
  }

  /// The result of an update of the tables.
  struct Migrated: Encodable {
    let store: String
    let schema: String?
    let version: Int64
    /// Nil if there were no tables.
    let previousVersion: Int64?
  }

  /// A privilege that a role was granted.
  struct Granted: Encodable {
    let store: String
    let schema: String?
    let role: String
    let privilege: String
  }

  /// A job, with its payload, its history and a diagnosis if it is shown alone.
  struct Job: Encodable {
    struct Limit: Encodable {
      let key: String
      let rule: String
      let count: Int
      let weight: Int
      let periodSeconds: Double?
      let burst: Int?

      init(_ limit: JobLimit) {
        (key, weight) = (limit.key, limit.weight)
        switch limit.rule {
        case .concurrent(let count): (rule, self.count, periodSeconds, burst) = ("concurrent", count, nil, nil)
        case .serial: (rule, count, periodSeconds, burst) = ("serial", 1, nil, nil)
        case .rate(let rate):
          (rule, count, periodSeconds, burst) = ("rate", rate.count, rate.period / .seconds(1), rate.burst)
        }
      }
    }

    struct Failure: Encodable {
      let attempt: Int
      let time: String
      let type: String
      let text: String
    }

    struct Change: Encodable {
      let time: String
      let state: String
      let worker: Int64?
      let note: String?
    }

    struct Details: Encodable {
      let diagnosis: String
      let payload: String
      let result: String?
      let errors: [Failure]
      let history: [Change]
    }

    let event: String?
    let id: Int64
    let kind: String
    let version: Int
    let queue: String
    let state: String
    let priority: Int
    let label: String?
    let tags: [String]?
    let key: String?
    let limits: [Limit]?
    let attempt: Int
    let crashes: Int
    let worker: Int64?
    let enqueued: String
    let due: String?
    let waitsFor: String?
    let deadline: String?
    let claimed: String?
    let finished: String?
    let expires: String?
    let progress: Progress?
    let reason: String?
    let lastError: String?
    let errorGroup: String?
    let details: Details?

    init(_ job: JobRecord, event: String? = nil, diagnosis: String? = nil) {
      self.event = event
      (id, kind, version) = (job.id.rawValue, job.kind.rawValue, job.version)
      (queue, state, priority) = (job.queue, job.state.name, job.priority)
      (label, tags, key) = (job.settings.label, job.settings.tags, job.settings.unique?.key)
      limits = job.settings.limits?.map { Limit($0) }
      (attempt, crashes, worker) = (job.attempt, job.crashCount, job.owner?.rawValue)
      (enqueued, due) = (job.enqueuedTime.description, job.dueTime?.description)
      waitsFor = job.wait?.description
      (deadline, claimed) = (job.deadline?.description, job.claimedTime?.description)
      (finished, expires) = (job.finishedTime?.description, job.expirationTime?.description)
      progress = job.progress.map { Progress($0) }
      (reason, lastError) = (job.reason?.description, job.history.errors.last?.text)
      errorGroup = job.errorGroup?.description
      details = diagnosis.map { Details(diagnosis: $0, job) }
    }
  }

  struct Progress: Encodable {
    let fraction: Double
    let text: String?

    init(_ progress: JobProgress) { (fraction, text) = (progress.fraction, progress.text) }
  }

  /// A queue.
  struct Queue: Encodable {
    struct Waiting: Encodable {
      let kind: String
      let version: Int
      let count: Int
      let first: Int64
      let since: String
    }

    let event: String?
    let name: String
    let isPaused: Bool
    let maxRunningJobCount: Int?
    let maxPendingJobCount: Int?
    let maxFailureCount: Int?
    let failureCount: Int?
    let agingSeconds: Double?
    let counts: [JobState: Int]
    let oldestWaitingSeconds: Double?
    let waiting: [Waiting]

    /// Creates an object.
    ///
    /// - Parameters:
    ///   - queue: The current state of the queue.
    ///   - states: The states whose jobs were counted.
    ///   - now: The time of the store's clock.
    ///   - event: The event that the object describes; nil for none.
    init(
      _ queue: JobQueueSnapshot, counting states: [JobState] = JobState.allCases, at now: StoreTime,
      event: String? = nil
    ) {
      self.event = event
      (name, isPaused) = (queue.name, queue.counts.isPaused)
      let settings = queue.counts.settings
      (maxRunningJobCount, maxPendingJobCount) = (settings.maxRunningJobCount, settings.maxPendingJobCount)
      maxFailureCount = settings.maxFailureCount
      failureCount = settings.maxFailureCount == nil ? nil : queue.counts.failureCount
      agingSeconds = settings.agingInterval.map { $0 / .seconds(1) }
      counts = Dictionary(uniqueKeysWithValues: states.map { ($0, queue.counts[$0]) })
      oldestWaitingSeconds = queue.oldestWaitStartTime.map { max(0, (now - $0) / .seconds(1)) }
      waiting = queue.waiting.map {
        Waiting(
          kind: $0.kind.rawValue, version: $0.version, count: $0.count, first: $0.first.rawValue,
          since: $0.waitStartTime.description)
      }
    }
  }

  /// A worker.
  struct Worker: Encodable {
    struct Running: Encodable {
      let id: Int64
      let kind: String
      let queue: String
      let attempt: Int
      let claimed: String
      let progress: Progress?
    }

    let event: String?
    let id: Int64
    let name: String
    let process: Int32
    let queues: [String]
    let kinds: [JobKind: Int]
    let started: String
    let state: String
    let jobs: [Running]

    init(_ worker: JobWorkerSnapshot, event: String? = nil) {
      self.event = event
      let description = worker.description
      (id, name, process) = (worker.id.rawValue, description.name, description.processIdentifier)
      (queues, kinds, started) = (description.servedNames, description.kinds, worker.startTime.description)
      state = !worker.isAlive ? "dead" : worker.isStopped ? "stopped" : "working"
      jobs = worker.running.map { job in
        Running(
          id: job.id.rawValue, kind: job.kind.rawValue, queue: job.queue, attempt: job.attempt,
          claimed: job.claimedTime.description, progress: job.progress.map { Progress($0) })
      }
    }
  }

  /// The failed jobs of a kind.
  struct Failed: Encodable {
    let kind: String
    let count: Int
    let last: Int64
    let time: String
  }

  /// A snapshot of a store.
  struct Status: Encodable {
    let time: String
    /// The problems only.
    let health: Health
    let queues: [Queue]
    let workers: [Worker]
    let failures: [Failed]

    init(_ snapshot: JobsSnapshot, _ text: HealthText) {
      health = Health(text.health.problems, text)
      time = snapshot.time.description
      queues = snapshot.queues.map { Queue($0, at: snapshot.time) }
      workers = snapshot.workers.map { Worker($0) }
      failures = snapshot.failures.map {
        Failed(kind: $0.kind.rawValue, count: $0.count, last: $0.last.rawValue, time: $0.time.description)
      }
    }
  }
}

extension JobsJSON.Job.Details {
  fileprivate init(diagnosis: String, _ job: JobRecord) {
    self.init(
      diagnosis: diagnosis, payload: JobText.text(job.payload), result: job.result.map(JobText.text),
      errors: job.history.errors.map {
        JobsJSON.Job.Failure(attempt: $0.attempt, time: $0.time.description, type: $0.type, text: $0.text)
      },
      history: job.history.transitions.map {
        JobsJSON.Job.Change(
          time: $0.time.description, state: $0.state.name, worker: $0.worker?.rawValue, note: $0.note)
      })
  }
}
#endif
