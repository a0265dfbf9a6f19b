#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func dueSchedules(limit: Int) throws -> [DueSchedule] {
    let due = try statement(
      "SELECT \(ScheduleRow.columns) FROM headway_schedule WHERE next <= ?1 ORDER BY next, name LIMIT ?2")
    due.bind(now.microseconds, at: 1)
    due.bind(limit, at: 2)
    var schedules: [DueSchedule] = []
    try due.forEachRow { row in
      do {
        let schedule = try ScheduleRow.read(row, known: knownDefinitions)
        let isUnfinished = try schedule.lastJob.map(isUnfinished) ?? false
        schedules.append(DueSchedule(name: schedule.name, schedule, isLastJobUnfinished: isUnfinished))
      } catch let error as JobError where error.code == .undecodablePayload {
        schedules.append(DueSchedule(name: row.text(0), nil, isLastJobUnfinished: false))
      }
    }
    return schedules
  }

  func schedule(_ name: String, orWith definition: ScheduleDefinition?) throws -> ScheduleRecord? {
    let rows = try statement("SELECT \(ScheduleRow.columns) FROM headway_schedule WHERE name = ?1")
    defer { rows.reset() }
    rows.bind(name, at: 1)
    return try rows.step() ? try ScheduleRow.read(rows, orWith: definition) : nil
  }

  func isUnfinished(_ id: JobID) throws -> Bool {
    let statement = try statement("SELECT 1 FROM headway_job WHERE id = ?1")
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    return try statement.step()
  }

  func write(_ schedule: ScheduleRecord) throws {
    let statement = try statement(RowSQL.putSchedule)
    ScheduleRow.bind(schedule, to: statement)
    try statement.run()
  }

  func writeTick(of schedule: ScheduleRecord) throws {
    let statement = try statement(
      "UPDATE headway_schedule SET decided = ?2, last_tick = ?3, last_job = ?4, next = ?5, gaps = ?6 WHERE name = ?1")
    statement.bind(schedule.name, at: 1)
    statement.bind(schedule.decided.microseconds, at: 2)
    statement.bind(schedule.lastTick?.microseconds, at: 3)
    statement.bind(schedule.lastJob?.rawValue, at: 4)
    statement.bind(schedule.next?.microseconds, at: 5)
    statement.bind(ScheduleGap.stored(schedule.gaps), at: 6)
    try statement.run()
  }

  func postpone(_ name: String, to time: StoreTime) throws {
    let statement = try statement("UPDATE headway_schedule SET next = ?2 WHERE name = ?1")
    statement.bind(name, at: 1)
    statement.bind(time.microseconds, at: 2)
    try statement.run()
  }

  func removeSchedule(_ name: String) throws -> Bool {
    let statement = try statement("DELETE FROM headway_schedule WHERE name = ?1")
    statement.bind(name, at: 1)
    return try statement.run() > 0
  }
}
#endif
