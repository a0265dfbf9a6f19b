/// A schedule that has a due tick.
@_spi(JobStore) public struct DueSchedule {
  /// The name of the schedule.
  public let name: String
  /// The schedule; nil if this process can't read it.
  public let record: ScheduleRecord?
  /// Whether the last job of the schedule exists and is unfinished.
  public let isLastJobUnfinished: Bool

  /// Creates a schedule.
  public init(name: String, _ record: ScheduleRecord?, isLastJobUnfinished: Bool) {
    (self.name, self.record, self.isLastJobUnfinished) = (name, record, isLastJobUnfinished)
  }
}

@_spi(JobStore) extension JobRows {
  /// Adds the jobs of due ticks.
  ///
  /// - Parameter limit: The maximum number of schedules. After this number of jobs, no further schedule is processed.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: Whether there might be more due ticks.
  public func addDueJobs(limit: Int) throws -> Bool {
    let due = try dueSchedules(limit: limit)
    var (ticks, jobCount, isComplete) = ([(schedule: ScheduleRecord, jobs: [NewJob])](), 0, due.count < limit)
    var unreadable: [String] = []
    for schedule in due {
      guard jobCount < limit else {
        isComplete = false
        break
      }
      guard var record = schedule.record else {
        unreadable.append(schedule.name)
        continue
      }
      let jobs = ScheduleTransitions.tick(&record, isLastJobUnfinished: schedule.isLastJobUnfinished, at: now)
      ticks.append((record, jobs))
      jobCount += jobs.count
    }
    // The other schedules continue.
    if !unreadable.isEmpty { try postpone(unreadable, to: ScheduleTransitions.timeToLookAgain(after: now)) }
    guard !ticks.isEmpty else { return !isComplete }
    var additions = try prepare(ticks.flatMap(\.jobs))
    for index in ticks.indices {
      for job in ticks[index].jobs { ticks[index].schedule.lastJob = try add(job, to: &additions).id }
    }
    try write(additions)
    try writeTicks(of: ticks.map(\.schedule))
    return !isComplete
  }

  /// Changes a schedule.
  public func change(_ name: String, _ command: ScheduleCommand) throws -> ScheduleAnswer {
    hints.hasScheduled = true
    switch command {
    case .set(let definition):
      let old = try schedule(name, orWith: definition)
      let isUnfinished = try old.map(isLastJobUnfinished) ?? false
      let (schedule, jobs) = ScheduleTransitions.set(
        definition, name: name, replacing: old, isLastJobUnfinished: isUnfinished, at: now)
      try write(schedule, adding: jobs)
      return ScheduleAnswer(isFound: old != nil)
    case .setPaused(let isPaused):
      guard var schedule = try schedule(name, orWith: nil) else { return ScheduleAnswer(isFound: false) }
      ScheduleTransitions.setPaused(&schedule, isPaused, at: now)
      try write(schedule, adding: [])
      return ScheduleAnswer(isFound: true)
    case .run:
      guard let schedule = try schedule(name, orWith: nil) else { return ScheduleAnswer(isFound: false) }
      let last = try write(schedule, adding: [ScheduleTransitions.job(of: schedule, at: now)])
      return ScheduleAnswer(isFound: true, job: last)
    case .backfill(let start, let end):
      guard let schedule = try schedule(name, orWith: nil) else { return ScheduleAnswer(isFound: false) }
      return try backfill(schedule, from: start, through: end)
    case .remove: return ScheduleAnswer(isFound: try removeSchedule(name))
    }
  }

  /// Adds the jobs of due ticks, and then the missing jobs of past ticks.
  ///
  /// The job of a past tick does not become the last job, so later ticks don't depend on it.
  private func backfill(
    _ old: ScheduleRecord, from start: StoreTime, through end: StoreTime
  ) throws -> ScheduleAnswer {
    var schedule = old
    let due = ScheduleTransitions.tick(&schedule, isLastJobUnfinished: try isLastJobUnfinished(old), at: now)
    let limit = JobCommand.maxChangedCount - due.count
    guard
      let past = ScheduleTransitions.backfill(&schedule, from: start, through: end, limit: limit, at: now)
    else { return ScheduleAnswer(isFound: true) }
    var (additions, addedCount) = (try prepare(due + past.jobs), 0)
    for job in due { schedule.lastJob = try add(job, to: &additions).id }
    for job in past.jobs where try add(job, to: &additions).isNew { addedCount += 1 }
    try write(additions)
    try write(schedule)
    return ScheduleAnswer(isFound: true, addedCount: addedCount, hasMore: past.hasMore)
  }

  private func isLastJobUnfinished(_ schedule: ScheduleRecord) throws -> Bool {
    try schedule.lastJob.map(isUnfinished) ?? false
  }

  /// Adds jobs of a schedule and writes its row.
  ///
  /// - Returns: The last job of the schedule.
  @discardableResult
  private func write(_ changed: ScheduleRecord, adding jobs: [NewJob]) throws -> JobID? {
    var (schedule, additions) = (changed, try prepare(jobs))
    for job in jobs { schedule.lastJob = try add(job, to: &additions).id }
    try write(additions)
    try write(schedule)
    return schedule.lastJob
  }
}
