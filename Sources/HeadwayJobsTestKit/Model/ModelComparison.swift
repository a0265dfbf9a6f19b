@_spi(JobStore) import HeadwayJobs
import Synchronization

/// Executes commands on the store and on the model and compares both.
///
/// Both assign numbers to jobs and workers in the same order, but the numbers can differ, because a store can skip
/// some.
final class ModelComparison: Sendable {
  private struct Numbers {
    var toStore = ModelNumbers()
    var toModel = ModelNumbers()
    /// The job that was added last, in the store and in the model.
    var last: (job: JobID, model: JobID)?

    mutating func learn(_ pairs: some Sequence<(Enqueued, Enqueued)>) {
      for (job, model) in pairs where model.isNew { learn(job.id, model.id) }
    }

    mutating func learn(_ job: JobID, _ model: JobID) {
      toStore.jobs[model] = job
      toModel.jobs[job] = model
      if last.map({ $0.model < model }) ?? true { last = (job, model) }
    }
  }

  let model: MemoryJobStore
  private let fixture: any JobStoreFixture
  private let other: any JobStoreBackend
  private let numbers = Mutex(Numbers())

  init(fixture: any JobStoreFixture, other: any JobStoreBackend, model: MemoryJobStore) {
    self.fixture = fixture
    self.other = other
    self.model = model
  }

  /// Executes a command on both.
  ///
  /// - Returns: The answer, with the numbers of the model.
  func run(_ command: ModelCommand) async throws -> ModelAnswer {
    let translated = numbers.withLock { $0.toStore.translate(command) }
    if case .moveClock(let duration) = command { fixture.advanceClock(by: duration) }
    let expected = try await command.run(on: model)
    let answer = try await translated.run(on: command.isElsewhere ? other : fixture.store)
    if case .kill(let worker) = command, case .kill(let translated) = translated {
      model.kill(worker)
      try await fixture.kill(translated)
    }
    learn(from: answer, expected)
    if command.canTick { try await learnFromTicks() }
    let actual = numbers.withLock { $0.toModel.translate(answer) }
    guard actual.comparable == expected.comparable else {
      throw JobStoreDefect(description: "the store answered\n  \(actual)\nand the model\n  \(expected)")
    }
    return expected
  }

  /// Compares all jobs, the order of those that wait, the statistics, and the error groups.
  func compareJobs() async throws {
    let expected = model.jobs(.all, after: nil, limit: .max)
    let stored = try await fixture.store.jobs(.all, after: nil, limit: .max)
    let actual = numbers.withLock { numbers in stored.map { numbers.toModel.translate($0) } }
    for (job, model) in zip(actual, expected) where job.comparable != model.comparable {
      throw JobStoreDefect(description: "the store has the job\n  \(job)\nand the model\n  \(model)")
    }
    guard actual.count == expected.count else {
      let (ids, models) = (actual.map(\.id), expected.map(\.id))
      throw JobStoreDefect(description: "the store has the jobs \(ids), and the model \(models)")
    }
    try await compareEdges(of: expected.map(\.id))
    let (order, modelOrder) = (waitingOrder(of: actual), waitingOrder(of: expected))
    guard order == modelOrder else {
      throw JobStoreDefect(description: "jobs wait in the store in the order \(order), and in the model \(modelOrder)")
    }
    try await compareStatistics()
    try await compareErrors()
  }

  private func compareErrors() async throws {
    func groups(_ store: any JobStoreBackend) async throws -> [JobErrorGroup] {
      try await store.errorGroups(nil).sorted { $0.id < $1.id }
    }
    let expected = try await groups(model)
    var actual = try await groups(fixture.store)
    for index in actual.indices {
      actual[index].lastJob = numbers.withLock { [id = actual[index].lastJob] in $0.toModel.translate(id) }
    }
    guard actual == expected else {
      throw JobStoreDefect(description: "the store has the error groups\n  \(actual)\nand the model\n  \(expected)")
    }
  }

  private func compareStatistics() async throws {
    guard fixture.store.keepsStatistics else { return }
    try await other.mergeStatistics()
    for span in JobStatistics.Span.allCases {
      let expected = model.statistics(over: span, queue: nil)
      let actual = try await fixture.store.statistics(over: span, queue: nil)
      for (period, model) in zip(actual.periods, expected.periods) where period != model {
        throw JobStoreDefect(description: "the store has the statistics\n  \(period)\nand the model\n  \(model)")
      }
    }
  }

  private func compareEdges(of ids: [JobID]) async throws {
    let expected = model.edges(of: ids)
    let stored = try await fixture.store.edges(of: numbers.withLock { numbers in ids.map(numbers.toStore.translate) })
    let actual = numbers.withLock { numbers in stored.map { numbers.toModel.translate($0) } }
    guard actual == expected else {
      throw JobStoreDefect(description: "the store has the dependencies\n  \(actual)\nand the model\n  \(expected)")
    }
  }

  /// Returns the waiting jobs in the order of claims, with their queues.
  private func waitingOrder(of jobs: [JobRecord]) -> [JobID] {
    let waiting = jobs.filter { $0.state == .waiting }
    return waiting.sorted { ($0.queue, -$0.priority, $0.position) < ($1.queue, -$1.priority, $1.position) }.map(\.id)
  }

  private func learn(from answer: ModelAnswer, _ expected: ModelAnswer) {
    numbers.withLock { numbers in
      switch (answer, expected) {
      case (.enqueued(let stored), .enqueued(let models)): numbers.learn(zip(stored, models))
      case (.written(let stored), .written(let models)):
        numbers.learn(zip(stored.flatMap(\.newJobs), models.flatMap(\.newJobs)))
      case (.worker(let worker), .worker(let model)):
        numbers.toStore.workers[model] = worker
        numbers.toModel.workers[worker] = model
      default: break
      }
    }
  }
}

extension ModelComparison {
  /// Records the IDs of jobs that schedules have added.
  private func learnFromTicks() async throws {
    let last = numbers.withLock { $0.last }
    let stored = try await fixture.store.jobs(.all, after: last?.job, limit: .max)
    let expected = model.jobs(.all, after: last?.model, limit: .max)
    numbers.withLock { numbers in
      for (job, model) in zip(stored, expected) { numbers.learn(job.id, model.id) }
    }
  }
}

extension FencedAnswer {
  /// The answers to new jobs.
  var newJobs: [Enqueued] {
    switch self {
    case .enqueued(let job): [job]
    case .enqueuedBatch(let jobs): jobs
    case .written, .waited, .waits, .queueFull, .refused: []
    }
  }
}

extension ModelAnswer {
  /// Returns the answer without the parts that can differ.
  fileprivate var comparable: ModelAnswer {
    switch self {
    case .exchange(var answer):
      answer.claimed = answer.claimed.map { $0.map(\.comparable) }
      return .exchange(answer)
    case .jobs(let jobs): return .jobs(jobs.map(\.comparable))
    default: return self
    }
  }
}

extension JobRecord {
  /// Returns the job without the parts that can differ: the value of its position, and strings with IDs of jobs or
  /// workers.
  fileprivate var comparable: JobRecord {
    var job = self
    job.position = 0
    if let code = reason?.code, [.superseded, .crashed, .dependencyFailed].contains(code) { job.reason?.text = "" }
    job.history = JobHistory()
    for error in history.errors { job.history.append(error) }
    for var transition in history.transitions {
      // The note contains the reason of an earlier end.
      if transition.note?.hasPrefix("retried") == true { transition.note = "retried" }
      job.history.append(transition)
    }
    return job
  }
}
