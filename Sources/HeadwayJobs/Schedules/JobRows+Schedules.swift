/// The schedules of a store inside a transaction, for the algorithms that Headway's stores share.
package protocol ScheduleRows: JobGraphRows {
  /// The hints for observers, which are called after the commit.
  var hints: JobHints { get set }

  /// The schedules that have a due tick, in the order of the ticks, up to a limit.
  func dueSchedules(limit: Int) throws -> [DueSchedule]
  /// The schedule of a name, if there is one. The definition replaces a stored one that can't be read.
  func schedule(_ name: String, orWith definition: ScheduleDefinition?) throws -> ScheduleRecord?
  /// Returns whether a job exists and has not ended.
  func isUnfinished(_ id: JobID) throws -> Bool
  mutating func write(_ schedule: ScheduleRecord) throws
  /// Writes the changes of ``ScheduleTransitions/tick(_:isLastJobUnfinished:at:)``, and the last job.
  mutating func writeTick(of schedule: ScheduleRecord) throws
  /// Sets the time of the next tick, without changing anything else.
  mutating func postpone(_ name: String, to time: StoreTime) throws
  /// Removes a schedule, and returns whether there was one.
  mutating func removeSchedule(_ name: String) throws -> Bool
}

/// A schedule that has a due tick.
package struct DueSchedule {
  /// The name of the schedule.
  package let name: String
  /// The schedule; nil if this process can't read it.
  package let record: ScheduleRecord?
  /// Whether the last job of the schedule exists and is unfinished.
  package let isLastJobUnfinished: Bool

  /// Creates a schedule.
  package init(name: String, _ record: ScheduleRecord?, isLastJobUnfinished: Bool) {
    (self.name, self.record, self.isLastJobUnfinished) = (name, record, isLastJobUnfinished)
  }
}

extension ScheduleRows {
  /// Adds the jobs of due ticks.
  ///
  /// - Parameter limit: The maximum number of schedules. After this number of jobs, no further schedule is processed.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: Whether there might be more due ticks.
  package mutating func addDueJobs(limit: Int) throws -> Bool {
    let due = try dueSchedules(limit: limit)
    var (ticks, jobCount, isComplete) = ([(schedule: ScheduleRecord, jobs: [NewJob])](), 0, due.count < limit)
    for schedule in due {
      guard jobCount < limit else {
        isComplete = false
        break
      }
      guard var record = schedule.record else {
        // The other schedules continue.
        try postpone(schedule.name, to: ScheduleTransitions.timeToLookAgain(after: now))
        continue
      }
      let jobs = ScheduleTransitions.tick(&record, isLastJobUnfinished: schedule.isLastJobUnfinished, at: now)
      ticks.append((record, jobs))
      jobCount += jobs.count
    }
    try willAdd(ticks.flatMap(\.jobs))
    for (schedule, jobs) in ticks {
      var schedule = schedule
      for job in jobs { schedule.lastJob = try add(job, [], hasDependents: false).id }
      try writeTick(of: schedule)
    }
    return !isComplete
  }

  /// Changes a schedule.
  package mutating func change(_ name: String, _ command: ScheduleCommand) throws -> ScheduleAnswer {
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
    case .remove: return ScheduleAnswer(isFound: try removeSchedule(name))
    }
  }

  private func isLastJobUnfinished(_ schedule: ScheduleRecord) throws -> Bool {
    try schedule.lastJob.map(isUnfinished) ?? false
  }

  /// Adds jobs of a schedule, and writes its row.
  ///
  /// - Returns: The last job of the schedule.
  @discardableResult
  private mutating func write(_ changed: ScheduleRecord, adding jobs: [NewJob]) throws -> JobID? {
    var schedule = changed
    for job in jobs { schedule.lastJob = try add(job, [], hasDependents: false).id }
    try write(schedule)
    return schedule.lastJob
  }
}
