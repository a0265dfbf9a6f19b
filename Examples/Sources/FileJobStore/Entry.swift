import Headway
@_spi(JobStore) import HeadwayJobs

/// A changed row of the store, as the journal contains it.
enum Entry: Codable {
  case job(JobRecord)
  case noJob(JobID)
  case checkpoint(JobID, name: String, JobPayload)
  case noCheckpoints(JobID)
  case edge(from: JobID, to: JobID, needsSuccess: Bool, status: Int)
  case cascade(JobID, culprit: JobID?)
  case key(String, job: JobID, until: StoreTime)
  case queue(String, JobQueueRecord)
  case noQueue(String)
  case schedule(ScheduleRecord)
  case noSchedule(String)
  case worker(WorkerID, WorkerDescription, start: StoreTime, isStopped: Bool)
  case noWorker(WorkerID)
  case bucket(key: String, full: StoreTime, next: StoreTime?)
  case turn(MemoryLimits.TurnKey, key: String?, isPlainNext: Bool, heavyJobs: [JobID], lastGroup: String?)
  case error(JobErrorGroup)
  case noError(JobErrorGroup.ID)
  case change(MemoryChange)
  case numbers(MemoryJobs.LastNumbers)

  static func edge(_ edge: JobEdge) -> Entry {
    .edge(
      from: edge.dependency, to: edge.dependent, needsSuccess: edge.requirement == .success,
      status: edge.status.rawValue
    )
  }

  static func bucket(_ key: String, _ bucket: RateBucket) -> Entry {
    .bucket(key: key, full: bucket.fullTime, next: bucket.nextTime)
  }

  static func turn(_ place: MemoryLimits.TurnKey, _ turn: KeyTurn) -> Entry {
    .turn(
      place, key: turn.key, isPlainNext: turn.isPlainNext, heavyJobs: turn.heavyJobs, lastGroup: turn.lastGroup)
  }
}

extension MemoryJobs {
  /// Writes a row that the journal contains.
  mutating func restore(_ entry: Entry) {
    switch entry {
    case .job(let job): put(job)
    case .noJob(let id): remove(id)
    case .checkpoint(let id, let name, let value): checkpoints[id, default: [:]][name] = value
    case .noCheckpoints(let id): checkpoints[id] = nil
    case .edge(let dependency, let dependent, let needsSuccess, let status):
      graph.put(
        JobEdge(
          dependency: dependency, dependent: dependent, requirement: needsSuccess ? .success : .completion,
          status: JobEdge.Status(rawValue: status) ?? .unmet))
    case .cascade(let id, let culprit): graph.cascades[id] = culprit
    case .key(let key, let id, let time): timedKeys[key] = (id, time)
    case .queue(let name, let queue): queues[name] = queue
    case .noQueue(let name): queues[name] = nil
    case .schedule(let schedule): schedules[schedule.name] = schedule
    case .noSchedule(let name): schedules[name] = nil
    case .worker(let worker, let description, let start, let isStopped):
      put(worker, description, since: start)
      if isStopped { stopped.insert(worker) }
    case .noWorker(let worker): _ = remove(worker)
    case .bucket(let key, let full, let next): limits.keep(RateBucket(fullTime: full, nextTime: next), ofKey: key)
    case .turn(let place, let key, let isPlainNext, let heavyJobs, let lastGroup):
      let turn = KeyTurn(key: key, isPlainNext: isPlainNext, heavyJobs: heavyJobs, lastGroup: lastGroup)
      limits.keep(turn, at: place)
    case .error(let group): errors[group.id] = group
    case .noError(let id): errors[id] = nil
    case .change(let change): put(change)
    case .numbers(let numbers): lastNumbers = numbers
    }
  }

  /// All rows, in an order that ``restore(_:)`` accepts.
  var entries: [Entry] {
    var entries = [Entry.numbers(lastNumbers)]
    for (id, job) in jobs.sorted(by: { $0.key < $1.key }) {
      entries.append(.job(job))
      for (name, value) in checkpoints[id] ?? [:] { entries.append(.checkpoint(id, name: name, value)) }
      entries += graph.edges(to: id).map { .edge($0) }
    }
    for (id, culprit) in graph.cascades { entries.append(.cascade(id, culprit: culprit)) }
    for (key, held) in timedKeys { entries.append(.key(key, job: held.id, until: held.until)) }
    for (name, queue) in queues { entries.append(.queue(name, queue)) }
    for group in errors.values { entries.append(.error(group)) }
    for schedule in schedules.values { entries.append(.schedule(schedule)) }
    entries += changes.map { .change($0) }
    for worker in workers.keys { entries.append(workerEntry(worker)) }
    for key in limits.bucketKeys {
      if let bucket = limits.bucket(ofKey: key) { entries.append(.bucket(key, bucket)) }
    }
    for place in limits.turnPlaces { entries.append(.turn(place, limits.turn(at: place))) }
    return entries
  }

  /// The row of a worker, or the row that removes it if it does not exist.
  func workerEntry(_ worker: WorkerID) -> Entry {
    guard let description = workers[worker], let start = starts[worker] else { return .noWorker(worker) }
    return .worker(worker, description, start: start, isStopped: stopped.contains(worker))
  }
}
