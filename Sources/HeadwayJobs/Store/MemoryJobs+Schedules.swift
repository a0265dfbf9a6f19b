import Headway

extension MemoryJobs {
  // Rows in memory throw no errors.

  /// Adds the jobs of due ticks, up to a limit.
  ///
  /// - Returns: Whether there might be more due ticks.
  mutating func addAllDueJobs(limit: Int) -> Bool {
    do { return try addDueJobs(limit: limit) } catch { misuse("Rows in memory throw no errors: \(error)") }
  }

  mutating func changeSchedule(_ name: String, _ command: ScheduleCommand) -> ScheduleAnswer {
    do { return try change(name, command) } catch { misuse("Rows in memory throw no errors: \(error)") }
  }
}

extension MemoryJobs: ScheduleRows {
  /// When the next tick is due; nil if there is none.
  var nextTick: StoreTime? { schedules.values.compactMap(\.next).min() }

  func dueSchedules(limit: Int) -> [DueSchedule] {
    let due = schedules.values.compactMap { schedule in
      schedule.next.flatMap { $0 <= now ? (time: $0, name: schedule.name) : nil }
    }
    return due.sorted(by: <).prefix(limit).map { _, name in
      let schedule = schedules[name]
      return DueSchedule(name: name, schedule, isLastJobUnfinished: schedule?.lastJob.map(isUnfinished) ?? false)
    }
  }

  func schedule(_ name: String, orWith definition: ScheduleDefinition?) -> ScheduleRecord? { schedules[name] }

  func isUnfinished(_ id: JobID) -> Bool { jobs[id].map { !$0.state.isFinished } ?? false }

  mutating func write(_ schedule: ScheduleRecord) { schedules[schedule.name] = schedule }

  mutating func writeTick(of schedule: ScheduleRecord) { write(schedule) }

  mutating func postpone(_ name: String, to time: StoreTime) { schedules[name]?.next = time }

  mutating func removeSchedule(_ name: String) -> Bool { schedules.removeValue(forKey: name) != nil }
}
