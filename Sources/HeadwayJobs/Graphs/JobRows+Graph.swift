public import Headway

@_spi(JobStore) extension JobGraph {
  /// A dependency of a new job: the requirement, and the state of the job to wait for.
  public typealias Requirement = (requirement: DependencyRequirement, standing: Standing)
}

// MARK: Ends

@_spi(JobStore) extension JobRows {
  /// Settles the edges of all jobs that have ended in this transaction.
  public func settle() throws {
    while !ended.isEmpty {
      let ends = ended
      try willSettle(ends)
      ended = []
      for end in try settle(ends) { try setCascade(end.culprit, of: end.id) }
    }
  }

  /// Continues to settle the edges that earlier transactions have not settled.
  public func continueCascades() throws {
    let ends = try cascades()
    guard !ends.isEmpty else { return }
    let left = Set(try settle(ends).map(\.id))
    for end in ends where !left.contains(end.id) { try setCascade(nil, of: end.id) }
    try settle()
  }

  /// Settles edges up to the limits of the transaction.
  ///
  /// - Returns: The jobs that still have unmet edges.
  private func settle(_ ends: [JobGraph.Standing]) throws -> [JobGraph.Standing] {
    let count = try meetEdges(of: ends, limit: meetBudget)
    let hasMetAll = count < meetBudget
    meetBudget -= count
    if hasMetAll {
      // The edges that are still unmet can't be met.
      let failed = ends.filter { $0.state != .succeeded }
      guard !failed.isEmpty else { return [] }
      let limit = cascadeBudget
      if try cascade(failed) < limit { return [] }
    }
    let left = try jobsWithUnmetEdges(ends.map(\.id))
    return ends.filter { left.contains($0.id) }
  }

  /// Cancels dependents of failed jobs.
  ///
  /// - Returns: The number of edges.
  private func cascade(_ failed: [JobGraph.Standing]) throws -> Int {
    let edges = try unmetEdges(from: failed.map(\.id), limit: cascadeBudget)
    cascadeBudget -= edges.count
    try setStatus(.failed, of: edges)
    let culprits = Dictionary(failed.map { ($0.id, $0.culprit) }, uniquingKeysWith: { first, _ in first })
    let reasons = Dictionary(edges.map { ($0.dependent, $0.dependency) }, uniquingKeysWith: { first, _ in first })
    for var job in try findUnfinished(reasons.keys.sorted()) where job.state == .held {
      guard let dependency = reasons[job.id], let culprit = culprits[dependency] else { continue }
      JobGraph.cancel(&job, because: culprit, at: now)
      try put(job)
    }
    return edges.count
  }
}

// MARK: New jobs

@_spi(JobStore) extension JobRows {
  /// Adds all jobs of a batch or none.
  ///
  /// - Parameters:
  ///   - new: The jobs.
  ///   - parent: The running job whose dependents must also wait for the new ones; nil if there is none.
  /// - Throws: ``JobError`` if the batch can't be stored. Nothing was changed in that case.
  /// - Returns: The number of each job.
  public func addBatch(_ new: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    guard parent != nil || new.contains(where: { !$0.dependencies.isEmpty }) else {
      try willAdd(new)
      return try new.map { try add($0, [], hasDependents: false) }
    }
    let order = try JobGraph.order(of: new)
    if parent != nil { try JobGraph.checkGrowth(new) }
    try willAdd(order.map { new[$0] })
    let stored = try standingsBefore(new, isGrowth: parent != nil)
    let isAwaited = JobGraph.awaitedIndexes(of: new)
    awaited = []
    defer { awaited = [] }
    var answers: [(enqueued: Enqueued, standing: JobGraph.Standing)?] = Array(repeating: nil, count: new.count)
    for index in order {
      let requirements = new[index].dependencies.map { dependency -> JobGraph.Requirement in
        switch dependency.target {
        case .job(let id): return (dependency.requirement, stored[id] ?? JobGraph.Standing(id: id, state: .failed))
        case .batch(let other):
          guard let standing = answers[other]?.standing else { misuse("The order of a batch is wrong.") }
          return (dependency.requirement, standing)
        }
      }
      let enqueued = try add(new[index], requirements, hasDependents: isAwaited[index])
      answers[index] = (enqueued, try standing(of: enqueued, requirements))
      if isAwaited[index], enqueued.isNew { awaited.insert(enqueued.id) }
    }
    let enqueued = answers.compactMap { $0?.enqueued }
    if let parent { try insert(enqueued.filter(\.isNew).map(\.id).sorted(), beforeDependentsOf: parent) }
    return enqueued
  }

  /// Returns the state of a job of a batch.
  private func standing(
    of enqueued: Enqueued, _ requirements: [JobGraph.Requirement]
  ) throws -> JobGraph.Standing {
    let id = enqueued.id
    guard enqueued.isNew else { return try standing(of: id) ?? JobGraph.Standing(id: id, state: .failed) }
    // A job that was cancelled when it was added might already be deleted.
    if let culprit = JobGraph.culprit(of: requirements) {
      return JobGraph.Standing(id: id, state: .cancelled, culprit: culprit)
    }
    return JobGraph.Standing(id: id, state: .held)
  }

  /// Returns the states of the stored jobs that a batch waits for, and checks that they exist.
  private func standingsBefore(_ new: [NewJob], isGrowth: Bool) throws -> [JobID: JobGraph.Standing] {
    let standings = try standings(of: JobGraph.storedDependencies(of: new))
    var holders: [Int: JobID?] = [:]
    for job in new {
      for dependency in job.dependencies {
        switch dependency.target {
        case .job(let id): if standings[id] == nil { throw JobError(unknownJob: id, waitedForBy: job) }
        case .batch(let index):
          // Another job might already hold the key of the entry, and then takes its place.
          guard let unique = new[index].settings.unique else { continue }
          let known = try holders[index] ?? holder(of: unique)
          holders[index] = known
          guard let other = known else { continue }
          if try standing(of: other) == nil { throw JobError(unknownJob: other, waitedForBy: job) }
          guard !isGrowth else {
            throw JobError(
              .dependencyCycle,
              "A job of the kind \(job.kind) that is added before the dependents of the running job can't wait for job "
                + "\(other), which holds the key \(unique.key), because that job might wait for the dependents.")
          }
        }
      }
    }
    return standings
  }

  /// Makes the jobs that wait for a running job also wait for its new children.
  private func insert(_ children: [JobID], beforeDependentsOf parent: JobID) throws {
    guard !children.isEmpty else { return }
    let edges = try unmetEdges(from: [parent], limit: .max)
    let standings = try standings(of: edges.map(\.dependent))
    let held = edges.filter { standings[$0.dependent]?.state == .held }
    guard !held.isEmpty else { return }
    for edge in held {
      try insert(
        children.map { JobEdge(dependency: $0, dependent: edge.dependent, requirement: edge.requirement) })
    }
    try addUnmet(children.count, to: held.map(\.dependent))
    try noteDependents(of: children)
  }

  /// Inserts the edges of a new job, and holds the job or cancels it if necessary.
  public func insertEdges(of job: inout JobRecord, _ dependencies: [JobGraph.Requirement]) throws {
    guard !dependencies.isEmpty else { return }
    let edges = JobGraph.edges(of: job.id, dependencies)
    try insert(edges)
    let unnoted = edges.filter { $0.status == .unmet && !awaited.contains($0.dependency) }
    try noteDependents(of: unnoted.map(\.dependency))
    if let culprit = JobGraph.culprit(of: dependencies) {
      JobGraph.cancel(&job, because: culprit, at: now)
    } else {
      JobGraph.hold(&job, for: edges.count(where: { $0.status == .unmet }))
    }
  }
}

// MARK: Jobs that are run again

@_spi(JobStore) extension JobRows {
  /// Returns the edges to finished jobs, with the current states of the dependencies; nil for deleted ones.
  package func requirements(of ids: [JobID]) throws -> [JobID: [(edge: JobEdge, state: JobState?)]] {
    let edges = try edges(to: ids)
    let standings = try standings(of: Set(edges.map(\.dependency)).sorted())
    return Dictionary(grouping: edges.map { ($0, standings[$0.dependency]?.state) }, by: \.0.dependent)
  }

  /// Runs jobs again.
  package func restart(_ retries: JobRetries) throws {
    let ids = retries.jobs.map(\.id)
    let (requirements, awaited) = (try requirements(of: ids), try jobsWithUnmetEdges(ids))
    var (dependencies, changes) = (Set<JobID>(), [JobEdge.Status: [JobEdge]]())
    for (var job, position) in zip(retries.jobs, try nextPositions(ids.count)) {
      var count = 0
      for (edge, state) in requirements[job.id] ?? [] {
        let status = retries.status(of: edge, state)
        if status != edge.status { changes[status, default: []].append(edge) }
        if status == .unmet {
          count += 1
          dependencies.insert(edge.dependency)
        }
      }
      JobGraph.hold(&job, for: count)
      job.hasDependents = awaited.contains(job.id)
      try setCascade(nil, of: job.id)
      (job.position, job.readyTime) = (position, now)
      try put(job)
    }
    for (status, edges) in changes { try setStatus(status, of: edges) }
    // The rows of the dependencies that run again are unfinished only now.
    try noteDependents(of: dependencies.sorted())
  }
}
