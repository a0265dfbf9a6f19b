@_spi(JobStore) import HeadwayJobs

/// A command of a program, with the model's IDs of jobs and workers.
enum ModelCommand: Sendable {
  case enqueue([NewJob], elsewhere: Bool)
  case exchange(JobExchange)
  case write([FencedWrite])
  case checkpoint(String, JobID)
  case register
  case beat(WorkerID, [JobFence])
  case unregister(WorkerID, isRunningCode: Bool)
  case kill(WorkerID)
  case rescue
  case moveClock(Duration)
  case advance
  case perform(JobCommand, elsewhere: Bool)
  case jobs(JobFilter, after: JobID?, limit: Int)
  case edges([JobID])
  case counts
  case snapshot(JobsSnapshot.Parts)
  case schedule(ScheduleCommand, name: String, elsewhere: Bool)
  case schedules

  /// Whether another process executes the command, if processes can share the store.
  var isElsewhere: Bool {
    switch self {
    case .enqueue(_, let elsewhere), .perform(_, let elsewhere), .schedule(_, _, let elsewhere): elsewhere
    default: false
    }
  }

  /// Whether schedules can add jobs during the command.
  var canTick: Bool {
    switch self {
    case .advance, .schedule: true
    default: false
    }
  }
}

/// The answer of a store to a command.
enum ModelAnswer: Equatable, Sendable {
  case none
  case enqueued([Enqueued])
  case exchange(JobExchangeAnswer)
  case written([FencedAnswer])
  case checkpoint(JobPayload?)
  case worker(WorkerID)
  case beat(WorkerBeat)
  case rescued(Set<JobID>)
  case time(StoreTime?)
  case changed(Int)
  case jobs([JobRecord])
  case edges([JobEdge])
  case counts([String: JobQueueCounts])
  case snapshot(JobsSnapshot)
  case scheduled(ScheduleAnswer)
  case schedules([ScheduleRecord])
  case error(JobError.Code)
}

extension ModelCommand {
  /// Executes the command, unless it concerns the fixture.
  func run(on store: any JobStoreBackend) async throws -> ModelAnswer {
    do {
      switch self {
      case .enqueue(let jobs, _): return .enqueued(try await store.enqueue(jobs))
      case .exchange(let exchange): return .exchange(try await store.exchange(exchange))
      case .write(let writes): return .written(try await store.write(writes))
      case .checkpoint(let name, let id): return .checkpoint(try await store.checkpoint(name, of: id))
      case .register:
        let description = WorkerDescription(name: "model", processIdentifier: 1, queues: ["a", "b"], kinds: ["one": 1])
        return .worker(try await store.register(description))
      case .beat(let worker, let attempts): return .beat(try await store.beat(worker, running: attempts))
      case .unregister(let worker, let isRunningCode):
        try await store.unregister(worker, isRunningCode: isRunningCode)
        return .none
      case .rescue: return .rescued(Set(try await store.rescue()))
      case .kill, .moveClock: return .none
      case .advance: return .time(try await store.advance())
      case .perform(let command, _): return .changed(try await store.perform(command))
      case .jobs(let filter, let id, let limit): return .jobs(try await store.jobs(filter, after: id, limit: limit))
      case .edges(let ids): return .edges(try await store.edges(of: ids))
      case .counts: return .counts(try await store.counts())
      case .snapshot(let parts): return .snapshot(try await store.snapshot(parts))
      case .schedule(let command, let name, _): return .scheduled(try await store.perform(command, on: name))
      case .schedules: return .schedules(try await store.schedules())
      }
    } catch let error as JobError {
      return .error(error.code)
    }
  }
}
