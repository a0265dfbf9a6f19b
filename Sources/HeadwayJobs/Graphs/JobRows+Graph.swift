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
      let left = try settle(ends)
      if !left.isEmpty { try noteCascades(left) }
    }
  }

  /// Continues to settle the edges that earlier transactions have not settled.
  public func continueCascades() throws {
    let ends = try cascades()
    guard !ends.isEmpty else { return }
    let left = Set(try settle(ends).map(\.id))
    let settled = ends.map(\.id).filter { !left.contains($0) }
    if !settled.isEmpty { try removeCascades(of: settled) }
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
    guard !edges.isEmpty else { return 0 }
    try setStatus(.failed, of: edges)
    let culprits = Dictionary(failed.map { ($0.id, $0.culprit) }, uniquingKeysWith: { first, _ in first })
    let reasons = Dictionary(edges.map { ($0.dependent, $0.dependency) }, uniquingKeysWith: { first, _ in first })
    var cancelled: [JobRecord] = []
    for var job in try findUnfinished(reasons.keys.sorted()) where job.state == .held {
      guard let dependency = reasons[job.id], let culprit = culprits[dependency] else { continue }
      JobGraph.cancel(&job, because: culprit, at: now)
      cancelled.append(job)
    }
    try put(cancelled)
    return edges.count
  }
}

// MARK: New jobs

@_spi(JobStore) extension JobRows {
  /// Adds all jobs of a batch or none.
  ///
  /// - Parameters:
  ///   - new: The jobs to add, in order.
  ///   - parent: The running job whose dependents must also wait for the new ones; nil if there is none.
  /// - Throws: ``JobError`` if the batch can't be stored. Nothing was changed in that case.
  /// - Returns: The ID of each job.
  public func addBatch(_ new: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    guard parent != nil || new.contains(where: { !$0.dependencies.isEmpty }) else {
      var additions = try prepare(new)
      let enqueued = try new.map { try add($0, to: &additions) }
      try write(additions)
      return enqueued
    }
    let order = try JobGraph.order(of: new)
    if parent != nil { try JobGraph.checkGrowth(new) }
    var additions = try prepare(order.map { new[$0] })
    var standings = try standingsBefore(new, additions, isGrowth: parent != nil)
    var answers: [Enqueued?] = Array(repeating: nil, count: new.count)
    for index in order {
      let requirements = new[index].dependencies.map { dependency -> JobGraph.Requirement in
        let id: JobID
        switch dependency.target {
        case .job(let stored): id = stored
        case .batch(let other):
          guard let answer = answers[other] else { misuse("The order of a batch is wrong.") }
          id = answer.id
        }
        return (dependency.requirement, standings[id] ?? JobGraph.Standing(id: id, state: .failed))
      }
      let enqueued = try add(new[index], requirements, to: &additions)
      answers[index] = enqueued
      guard enqueued.isNew else { continue }
      let culprit = JobGraph.culprit(of: requirements)
      standings[enqueued.id] = JobGraph.Standing(
        id: enqueued.id, state: culprit == nil ? .held : .cancelled, culprit: culprit)
    }
    let enqueued = answers.compactMap(\.self)
    if let parent {
      try insert(enqueued.filter(\.isNew).map(\.id).sorted(), beforeDependentsOf: parent, &additions)
    }
    try write(additions)
    return enqueued
  }

  /// Returns the states of the stored jobs that a batch waits for, after checking that they exist.
  private func standingsBefore(
    _ new: [NewJob], _ additions: JobAdditions, isGrowth: Bool
  ) throws -> [JobID: JobGraph.Standing] {
    // Another job might already hold the key of an entry, and then takes its place.
    func holder(_ index: Int) -> (id: JobID, key: String)? {
      new[index].settings.unique.flatMap { unique in additions.keys[unique].map { ($0, unique.key) } }
    }
    var ids = Set<JobID>()
    for dependency in new.lazy.flatMap(\.dependencies) {
      switch dependency.target {
      case .job(let id): ids.insert(id)
      case .batch(let index): if let id = holder(index)?.id { ids.insert(id) }
      }
    }
    let standings = try standings(of: ids.sorted())
    for job in new {
      for dependency in job.dependencies {
        switch dependency.target {
        case .job(let id): if standings[id] == nil { throw JobError(unknownJob: id, waitedForBy: job) }
        case .batch(let index):
          guard let (other, key) = holder(index) else { continue }
          if standings[other] == nil { throw JobError(unknownJob: other, waitedForBy: job) }
          guard !isGrowth else {
            throw JobError(
              .dependencyCycle,
              "A job of the kind \(job.kind) that is added before the dependents of the running job can't wait for job "
                + "\(other), which holds the key \(key), because that job might wait for the dependents.")
          }
        }
      }
    }
    return standings
  }

  /// Makes the jobs that wait for a running job also wait for its new children.
  private func insert(
    _ children: [JobID], beforeDependentsOf parent: JobID, _ additions: inout JobAdditions
  ) throws {
    guard !children.isEmpty else { return }
    let edges = try unmetEdges(from: [parent], limit: .max)
    let standings = try standings(of: edges.map(\.dependent))
    let held = edges.filter { standings[$0.dependent]?.state == .held }
    guard !held.isEmpty else { return }
    for edge in held {
      additions.edges += children.map {
        JobEdge(dependency: $0, dependent: edge.dependent, requirement: edge.requirement)
      }
    }
    for child in children { additions.noteDependents(of: child) }
    additions.hold(held.map(\.dependent), for: children.count)
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
  ///
  /// - Returns: The jobs as they were written.
  func restart(_ retries: JobRetries) throws -> [JobRecord] {
    guard !retries.jobs.isEmpty else { return [] }
    let ids = retries.jobs.map(\.id)
    let (requirements, awaited) = (try requirements(of: ids), try jobsWithUnmetEdges(ids))
    var (dependencies, changes) = (Set<JobID>(), [JobEdge.Status: [JobEdge]]())
    var jobs = retries.jobs
    for (index, position) in zip(jobs.indices, try nextPositions(jobs.count)) {
      var count = 0
      for (edge, state) in requirements[jobs[index].id] ?? [] {
        let status = retries.status(of: edge, state)
        if status != edge.status { changes[status, default: []].append(edge) }
        if status == .unmet {
          count += 1
          dependencies.insert(edge.dependency)
        }
      }
      JobGraph.hold(&jobs[index], for: count)
      jobs[index].hasDependents = awaited.contains(jobs[index].id)
      (jobs[index].position, jobs[index].readyTime) = (position, now)
    }
    try removeCascades(of: ids)
    for job in jobs { activity.note(.restarted, of: job) }
    try put(jobs)
    for (status, edges) in changes { try setStatus(status, of: edges) }
    // The rows of the dependencies that run again are unfinished only now.
    try noteDependents(of: dependencies.sorted())
    return jobs
  }
}
