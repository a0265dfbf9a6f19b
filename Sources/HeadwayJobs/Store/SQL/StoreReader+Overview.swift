extension StoreReader {
  // MARK: Snapshots

  func snapshot(_ parts: JobsSnapshot.Parts) throws -> JobsSnapshot {
    JobsSnapshot(
      time: now, counts: try parts.contains(.counts) ? counts() : queueCounts(),
      waiting: parts.contains(.waiting) ? try waitingJobs() : [:],
      workers: parts.contains(.workers) ? try workers() : [],
      failures: parts.contains(.failures) ? try failures() : [])
  }

  /// Returns the number of jobs of each queue in each state, and the settings of queues.
  func counts() throws -> [String: JobQueueCounts] {
    var counts = try queueCounts()
    try forEachRow(StoreStatement(OverviewSQL.counts, isFrequent: true)) { row in
      guard let state = JobState(rawValue: row.int(1)) else { return }
      counts[row.text(0), default: JobQueueCounts()].byState[state, default: 0] += row.int(2)
    }
    return counts
  }

  private func queueCounts() throws -> [String: JobQueueCounts] { try queues().mapValues { JobQueueCounts($0) } }

  private func waitingJobs() throws -> [String: [WaitingJobs]] {
    try waitingJobs(by: Overview.waitingJobs.map { StoreStatement($0, isFrequent: true) })
  }

  /// Returns the waiting jobs by queue, kind and version, with the first job of each group.
  private func waitingJobs(by statements: [StoreStatement]) throws -> [String: [WaitingJobs]] {
    var groups = WaitingGroups()
    for statement in statements {
      try forEachRow(statement) { row in
        let group = WaitingGroups.Group(queue: row.text(0), kind: row.text(1), version: row.int(2))
        groups.add(row.int(3), to: group)
        groups.note(
          WaitingGroups.First(
            id: row.id(5), position: row.int64(4), enqueuedTime: row.time(6), readyTime: row.time(7),
            history: row.optional(8, row.bytes)), in: group)
      }
    }
    return groups.waitingJobs
  }

  private func workers() throws -> [JobWorkerSnapshot] {
    var running: [WorkerID: [RunningJob]] = [:]
    try forEachRow(StoreStatement(OverviewSQL.running, isFrequent: true)) { row in
      running[row.worker(0), default: []].append(
        RunningJob(
          id: row.id(1), kind: row.kind(2), queue: row.text(3), attempt: row.int(4), claimedTime: row.time(5),
          progress: JobRow.progress(row, at: 6)))
    }
    return try rows(StoreStatement(Overview.workers, isFrequent: true)) { row in
      JobWorkerSnapshot(
        id: row.worker(0), description: try WorkerDescription(stored: row.bytes(3)), startTime: row.time(1),
        isAlive: isAlive(row), isStopped: row.bool(2), running: running[row.worker(0)] ?? [])
    }
  }

  private func failures() throws -> [FailedJobs] {
    try rows(StoreStatement(OverviewSQL.failures, isFrequent: true)) {
      FailedJobs(kind: $0.kind(0), count: $0.int(1), last: $0.id(2), time: $0.time(3))
    }
  }

  // MARK: Overviews

  /// The maximum number of kinds, versions and priorities of all queues that an overview reads by an index.
  private static var maxGroupCount: Int { 4_500 }

  /// Reads an overview by indexes and counts only up to a limit.
  func overview(countingTo limit: Int) throws -> JobsOverview {
    preferIndexes()
    var counts = try queueCounts()
    try forEachRow(StoreStatement(OverviewSQL.runningCounts)) { row in
      counts[row.text(0), default: JobQueueCounts()].byState[.running] = row.int(1)
    }
    var limits: [JobState: Int] = [:]
    for state in JobState.changeable { limits[state] = try count(state, upTo: limit, &counts) }
    let queues = counts.values.map { $0[.waiting] }.filter { $0 > 0 }
    // If few jobs wait, their numbers by kind are exact.
    let maxCount = limits[.waiting] != nil || queues.reduce(0, +) > limit ? limit : .max
    let groupCount = max(1, Self.maxGroupCount / max(1, queues.count))
    let waiting = try waitingJobs(
      by: JobPart.waiting.map {
        StoreStatement(Overview.waitingJobs(of: $0, groupsPerQueue: groupCount), .number(maxCount))
      })
    let snapshot = JobsSnapshot(time: now, counts: counts, waiting: waiting, workers: try workers(), failures: [])
    var overview = JobsOverview(
      countLimit: limit, queueCountLimits: limits, snapshot: snapshot, failedCount: try count(of: .failed, upTo: limit),
      cancelledCount: try count(of: .cancelled, upTo: limit),
      endings: try endings(min(limit, JobsOverview.maxEndingCount)))
    overview.noteFailures(
      try rows(StoreStatement(OverviewSQL.latestFailures, .number(min(limit, JobsOverview.maxEndingCount)))) {
        ($0.id(0), $0.time(1))
      })
    return overview
  }

  /// Counts the jobs of each queue in a state, up to a limit that shrinks if many queues have many of these jobs.
  ///
  /// - Returns: The limit if it is lower, and the jobs of a queue were not all counted.
  private func count(
    _ state: JobState, upTo maximum: Int, _ counts: inout [String: JobQueueCounts]
  ) throws -> Int? {
    var limit = QueueCountLimit(upTo: maximum)
    var found: [String: Int] = [:]
    repeat {
      found = [:]
      for part in JobPart.allCases where part.state == state {
        try forEachRow(StoreStatement(OverviewSQL.counts(of: part), .number(limit.value + 1))) { row in
          found[row.text(0), default: 0] += row.int(1)
        }
      }
    } while limit.raise(after: Array(found.values))
    for (queue, count) in found { counts[queue, default: JobQueueCounts()].byState[state] = count }
    return limit.value < maximum && found.values.contains { $0 > limit.value } ? limit.value : nil
  }

  private func count(of state: JobState, upTo limit: Int) throws -> Int {
    let count = StoreStatement(OverviewSQL.unsuccessfulCount, .number(state.rawValue), .number(limit + 1))
    return try rows(count) { $0.int(0) }.first ?? 0
  }

  private func endings(_ limit: Int) throws -> [EndedJob] {
    let begin = now + (.zero - JobsOverview.endingsInterval)
    return try rows(StoreStatement(OverviewSQL.endings, .time(begin), .number(limit))) { row in
      JobState(rawValue: row.int(3)).map { state in
        EndedJob(
          id: row.id(0), kind: row.kind(2), queue: row.text(1), state: state, ready: row.time(4),
          claimed: row.optional(5, row.time), finished: row.time(6))
      }
    }.compactMap(\.self)
  }
}
