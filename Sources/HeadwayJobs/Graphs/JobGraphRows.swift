package import Headway

/// The rows of a store inside a transaction, for the algorithms that Headway's stores share.
package protocol JobGraphRows {
  /// The time of the store's clock.
  var now: StoreTime { get }
  /// The jobs that have dependents, have ended in this transaction, and whose edges are not settled yet.
  var ended: [JobGraph.Standing] { get set }
  /// The number of edges that can still fail in this transaction.
  var cascadeBudget: Int { get set }

  func standing(of id: JobID) throws -> JobGraph.Standing?
  func holder(of unique: UniqueKey) throws -> JobID?
  func findUnfinished(_ id: JobID) throws -> JobRecord?
  mutating func nextPosition() throws -> Int64
  mutating func add(_ new: NewJob, _ dependencies: [JobGraph.Requirement]) throws -> Enqueued
  mutating func put(_ job: JobRecord) throws
  /// Notes that an unfinished job has dependents.
  mutating func noteDependents(of id: JobID) throws
  /// Makes a held job wait for more jobs.
  mutating func addUnmet(_ count: Int, to id: JobID) throws

  /// The unmet edges from a dependency, in the order of the dependents' numbers.
  func unmetEdges(from id: JobID, limit: Int) throws -> [JobEdge]
  /// The edges to a dependent, in the order of the dependencies' numbers.
  func edges(to id: JobID) throws -> [JobEdge]
  mutating func insert(_ edge: JobEdge) throws
  mutating func setStatus(_ status: JobEdge.Status, of edge: JobEdge) throws
  /// Marks the edges from a job as met if its end fulfills their requirements, and updates the dependents.
  mutating func meetEdges(of end: JobGraph.Standing) throws

  /// The jobs that failed or were cancelled and still have edges to mark as failed.
  func cascades() throws -> [JobGraph.Standing]
  mutating func setCascade(_ culprit: JobID?, of id: JobID) throws
}

extension JobGraph {
  /// A dependency of a new job: the requirement, and the state of the job to wait for.
  package typealias Requirement = (requirement: DependencyRequirement, standing: Standing)
}

// MARK: Ends

extension JobGraphRows {
  /// Settles the edges of all jobs that have ended in this transaction.
  package mutating func settle() throws {
    while !ended.isEmpty {
      let ends = ended
      ended = []
      for end in ends {
        try meetEdges(of: end)
        if end.state != .succeeded { try cascade(end) }
      }
    }
  }

  /// Continues to cancel the dependents of failed jobs that earlier transactions have left.
  package mutating func continueCascades() throws {
    for end in try cascades() where cascadeBudget > 0 { try cascade(end) }
    try settle()
  }

  private mutating func cascade(_ end: JobGraph.Standing) throws {
    let count = cascadeBudget
    let edges = try unmetEdges(from: end.id, limit: count + 1)
    for edge in edges.prefix(count) {
      cascadeBudget -= 1
      try setStatus(.failed, of: edge)
      guard var job = try findUnfinished(edge.dependent), job.state == .held else { continue }
      JobGraph.cancel(&job, because: end.culprit, at: now)
      try put(job)
    }
    try setCascade(edges.count > count ? end.culprit : nil, of: end.id)
  }
}

// MARK: New jobs

extension JobGraphRows {
  /// Adds all jobs of a batch or none.
  ///
  /// - Parameters:
  ///   - new: The jobs.
  ///   - parent: The running job whose dependents must also wait for the new ones; nil if there is none.
  /// - Throws: ``JobError`` if the batch can't be stored. Nothing was changed in that case.
  /// - Returns: The number of each job.
  package mutating func addBatch(_ new: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    guard parent != nil || new.contains(where: { !$0.dependencies.isEmpty }) else {
      return try new.map { try add($0, []) }
    }
    let order = try JobGraph.order(of: new)
    if parent != nil { try JobGraph.checkGrowth(new) }
    let stored = try standingsBefore(new, isGrowth: parent != nil)
    var (answers, culprits) = ([Int: Enqueued](), [JobID: JobID]())
    for index in order {
      let requirements = try new[index].dependencies.map { dependency -> JobGraph.Requirement in
        switch dependency.target {
        case .job(let id): return (dependency.requirement, stored[id] ?? JobGraph.Standing(id: id, state: .failed))
        case .batch(let other):
          guard let id = answers[other]?.id else { misuse("The order of a batch is wrong.") }
          // A job that was cancelled when it was added might already be deleted.
          if let culprit = culprits[id] {
            return (dependency.requirement, JobGraph.Standing(id: id, state: .cancelled, culprit: culprit))
          }
          return (dependency.requirement, try standing(of: id) ?? JobGraph.Standing(id: id, state: .failed))
        }
      }
      let answer = try add(new[index], requirements)
      if answer.isNew { culprits[answer.id] = JobGraph.culprit(of: requirements) }
      answers[index] = answer
    }
    if let parent { try insert(answers.values.filter(\.isNew).map(\.id).sorted(), beforeDependentsOf: parent) }
    return new.indices.compactMap { answers[$0] }
  }

  /// Returns the states of the stored jobs that a batch waits for, and checks that they exist.
  private func standingsBefore(_ new: [NewJob], isGrowth: Bool) throws -> [JobID: JobGraph.Standing] {
    var standings: [JobID: JobGraph.Standing] = [:]
    for job in new {
      for dependency in job.dependencies {
        switch dependency.target {
        case .job(let id): standings[id] = try existing(id, waitedForBy: job)
        case .batch(let index):
          // Another job might already hold the key of the entry, and then takes its place.
          guard let unique = new[index].settings.unique, let other = try holder(of: unique) else { continue }
          _ = try existing(other, waitedForBy: job)
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

  private func existing(_ id: JobID, waitedForBy job: NewJob) throws -> JobGraph.Standing {
    if let standing = try standing(of: id) { return standing }
    throw JobError(
      .unknownJob,
      "A job of the kind \(job.kind) waits for job \(id), which is not in the store: it was deleted after its "
        + "retention, or never existed. Nothing was stored.")
  }

  /// Makes the jobs that wait for a running job also wait for its new children.
  private mutating func insert(_ children: [JobID], beforeDependentsOf parent: JobID) throws {
    guard !children.isEmpty else { return }
    var hasDependents = false
    for edge in try unmetEdges(from: parent, limit: .max) {
      guard try standing(of: edge.dependent)?.state == .held else { continue }
      for child in children {
        try insert(JobEdge(dependency: child, dependent: edge.dependent, requirement: edge.requirement))
      }
      try addUnmet(children.count, to: edge.dependent)
      hasDependents = true
    }
    if hasDependents { for child in children { try noteDependents(of: child) } }
  }

  /// Inserts the edges of a new job, and holds the job or cancels it if necessary.
  package mutating func insertEdges(of job: inout JobRecord, _ dependencies: [JobGraph.Requirement]) throws {
    guard !dependencies.isEmpty else { return }
    let edges = JobGraph.edges(of: job.id, dependencies)
    for edge in edges {
      try insert(edge)
      if edge.status == .unmet { try noteDependents(of: edge.dependency) }
    }
    if let culprit = JobGraph.culprit(of: dependencies) {
      JobGraph.cancel(&job, because: culprit, at: now)
    } else {
      JobGraph.hold(&job, for: edges.count(where: { $0.status == .unmet }))
    }
  }
}

// MARK: Jobs that are run again

extension JobGraphRows {
  /// Returns the edges to a finished job, with the current states of its dependencies; nil for deleted ones.
  package func requirements(of id: JobID) throws -> [(edge: JobEdge, state: JobState?)] {
    try edges(to: id).map { ($0, try standing(of: $0.dependency)?.state) }
  }

  /// Runs jobs again.
  package mutating func restart(_ retries: JobRetries) throws {
    var dependencies: Set<JobID> = []
    for var job in retries.jobs {
      var count = 0
      for (edge, state) in try requirements(of: job.id) {
        let status = retries.status(of: edge, state)
        if status != edge.status { try setStatus(status, of: edge) }
        if status == .unmet {
          count += 1
          dependencies.insert(edge.dependency)
        }
      }
      JobGraph.hold(&job, for: count)
      job.hasDependents = try !unmetEdges(from: job.id, limit: 1).isEmpty
      try setCascade(nil, of: job.id)
      (job.position, job.ready) = (try nextPosition(), now)
      try put(job)
    }
    // The rows of the dependencies that run again are unfinished only now.
    for id in dependencies.sorted() { try noteDependents(of: id) }
  }
}
