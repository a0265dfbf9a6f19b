/// The schedules of a store inside a transaction, for the algorithms that Headway's stores share.
package protocol ScheduleRows: JobGraphRows {
  /// The hints for observers, which are called after the commit.
  var hints: JobHints { get set }

  /// The names of the schedules that have a due tick, in the order of the ticks.
  func dueSchedules() throws -> [String]
  /// The schedule of a name, if there is one. The definition replaces a stored one that can't be read.
  func schedule(_ name: String, orWith definition: ScheduleDefinition?) throws -> ScheduleRecord?
  /// Returns whether a job exists and has not ended.
  func isUnfinished(_ id: JobID) throws -> Bool
  mutating func write(_ schedule: ScheduleRecord) throws
  /// Sets the time of the next tick, without changing anything else.
  mutating func postpone(_ name: String, to time: StoreTime) throws
  /// Removes a schedule, and returns whether there was one.
  mutating func removeSchedule(_ name: String) throws -> Bool
}

extension ScheduleRows {
  /// Adds the jobs of due ticks.
  package mutating func addDueJobs() throws {
    for name in try dueSchedules() {
      do {
        guard var schedule = try schedule(name, orWith: nil) else { continue }
        // Another process can have added the jobs before this one has locked the row.
        guard let next = schedule.next, next <= now else { continue }
        let isUnfinished = try isLastJobUnfinished(schedule)
        let jobs = ScheduleTransitions.tick(&schedule, isLastJobUnfinished: isUnfinished, at: now)
        try write(schedule, adding: jobs)
      } catch let error as JobError where error.code == .undecodablePayload {
        // The other schedules continue.
        try postpone(name, to: ScheduleTransitions.timeToLookAgain(after: now))
      }
    }
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
    for job in jobs { schedule.lastJob = try add(job, []).id }
    try write(schedule)
    return schedule.lastJob
  }
}
