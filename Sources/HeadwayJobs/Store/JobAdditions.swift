/// The holders of unique keys, as the changes of a transaction have left them.
///
/// Keys are compared by their bytes, as in databases.
struct JobKeys {
  private struct Key: Hashable {
    let bytes: [UInt8]
    let isTimed: Bool

    init(_ unique: UniqueKey) { (bytes, isTimed) = (Array(unique.key.utf8), unique.duration != nil) }
  }

  private var holders: [Key: JobID] = [:]

  /// The job that holds a key; nil if none does.
  subscript(unique: UniqueKey) -> JobID? {
    get { holders[Key(unique)] }
    set { holders[Key(unique)] = newValue }
  }

  /// Reads the holders of keys.
  mutating func read(_ keys: [UniqueKey], toReplace: Bool = false, in rows: some JobRows) throws {
    guard !keys.isEmpty else { return }
    for (key, holder) in zip(keys, try rows.holders(of: keys, toReplace: toReplace)) { self[key] = holder }
  }
}

/// The jobs that a transaction adds together.
///
/// A transaction reads the holders of all keys, adds the jobs one after another, and writes them. Therefore, the number
/// of statements does not depend on the number of jobs.
struct JobAdditions {
  /// The holders of the keys of all jobs.
  var keys = JobKeys()
  /// The stored jobs whose content new jobs can replace.
  var replaceable: [JobID: JobRecord] = [:]
  /// The stored jobs whose content was replaced.
  private(set) var replaced: Set<JobID> = []
  /// The new jobs that have not ended.
  private(set) var jobs: [JobRecord] = []
  private var indexes: [JobID: Int] = [:]
  /// The new jobs that were cancelled because a dependency had failed.
  var finished: [JobRecord] = []
  var edges: [JobEdge] = []
  /// The stored jobs that have dependents from now on.
  private(set) var dependencies: Set<JobID> = []
  var timedKeys: [(key: String, job: JobID, until: StoreTime)] = []
  /// The stored jobs that have to wait for further dependencies, with the number of those.
  ///
  /// One of these jobs can also be replaced. Therefore, these numbers are added after the replaced jobs have been
  /// written.
  private(set) var held: [(jobs: [JobID], dependencyCount: Int)] = []

  /// Makes stored jobs, which are held, wait for further dependencies.
  mutating func hold(_ jobs: [JobID], for dependencyCount: Int) { held.append((jobs, dependencyCount)) }

  mutating func append(_ job: JobRecord) {
    indexes[job.id] = jobs.count
    jobs.append(job)
  }

  /// Notes that a job has dependents.
  mutating func noteDependents(of id: JobID) {
    if let index = indexes[id] { jobs[index].hasDependents = true } else { dependencies.insert(id) }
  }

  /// Changes a job that a new one replaces, if it is new or can be replaced.
  mutating func change(_ id: JobID, _ body: (inout JobRecord) throws -> Bool) rethrows {
    if let index = indexes[id] {
      _ = try body(&jobs[index])
    } else if var job = replaceable[id], try body(&job) {
      replaceable[id] = job
      replaced.insert(id)
    }
  }
}

extension JobRows {
  /// Reads what is necessary to add jobs.
  func prepare(_ new: [NewJob]) throws -> JobAdditions {
    try reserveNumbers(new.count)
    var additions = JobAdditions()
    let unique = new.compactMap(\.settings.unique)
    try additions.keys.read(unique.filter { $0.conflict == .keep }, in: self)
    let replacing = unique.filter { $0.conflict == .replace }
    guard !replacing.isEmpty else { return additions }
    try additions.keys.read(replacing, toReplace: true, in: self)
    let old = try findUnfinished(Set(replacing.compactMap { additions.keys[$0] }).sorted())
    additions.replaceable = Dictionary(uniqueKeysWithValues: old.map { ($0.id, $0) })
    return additions
  }

  /// Adds a job, unless another one holds its key.
  ///
  /// - Parameters:
  ///   - new: One of the jobs that were prepared.
  ///   - dependencies: The requirements of the job, with the states of the jobs that it depends on.
  ///   - additions: The jobs that are added together.
  /// - Throws: An error of the store.
  /// - Returns: The new job, or the job that holds its key.
  func add(
    _ new: NewJob, _ dependencies: [JobGraph.Requirement] = [], to additions: inout JobAdditions
  ) throws -> Enqueued {
    let unique = new.settings.unique
    if let unique, let other = additions.keys[unique] {
      if unique.conflict == .replace { try additions.change(other) { try replace(&$0, with: new) } }
      return Enqueued(id: other, isNew: false)
    }
    let (id, position) = try nextNumbers()
    var job = JobRecord(id: id, new, at: now)
    (job.position, job.readyTime) = (position, now)
    if let unique, let duration = unique.duration {
      additions.timedKeys.append((unique.key, id, now + duration))
      additions.keys[unique] = id
    }
    addEdges(to: &job, dependencies, &additions)
    guard !job.state.isFinished else {
      additions.finished.append(job)
      return Enqueued(id: id, isNew: true)
    }
    if let unique, unique.duration == nil {
      job.holdsKey = true
      additions.keys[unique] = id
    }
    additions.append(job)
    return Enqueued(id: id, isNew: true)
  }

  /// Adds the edges of a new job, then holds or cancels the job if necessary.
  private func addEdges(
    to job: inout JobRecord, _ dependencies: [JobGraph.Requirement], _ additions: inout JobAdditions
  ) {
    guard !dependencies.isEmpty else { return }
    let edges = JobGraph.edges(of: job.id, dependencies)
    additions.edges += edges
    for edge in edges where edge.status == .unmet { additions.noteDependents(of: edge.dependency) }
    if let culprit = JobGraph.culprit(of: dependencies) {
      JobGraph.cancel(&job, because: culprit, at: now)
    } else {
      JobGraph.hold(&job, for: edges.count(where: { $0.status == .unmet }))
    }
  }

  /// Replaces a job that holds the key of a new one, or returns false if the job has started.
  private func replace(_ job: inout JobRecord, with new: NewJob) throws -> Bool {
    let state = job.state
    guard JobTransitions.replace(&job, with: new, at: now) else { return false }
    // The job becomes ready now, so it follows the jobs that were already ready.
    if state.waitsForTime, job.state == .waiting, !job.keepsPlace {
      (job.position, job.readyTime) = (try nextPositions(1)[0], now)
    }
    return true
  }

  /// Writes the jobs that were added.
  func write(_ additions: JobAdditions) throws {
    try reserveNumbers(0)
    if !additions.timedKeys.isEmpty { try hold(additions.timedKeys) }
    try put(additions.replaced.sorted().compactMap { additions.replaceable[$0] })
    for (jobs, count) in additions.held { try addUnmet(count, to: jobs) }
    for job in additions.jobs + additions.finished { activity.note(.enqueued, of: job) }
    if !additions.jobs.isEmpty { try insert(additions.jobs) }
    for job in additions.jobs { try noteUnfinished(job) }
    if !additions.edges.isEmpty { try insert(additions.edges) }
    if !additions.dependencies.isEmpty { try noteDependents(of: additions.dependencies.sorted()) }
    try put(additions.finished)
  }
}
