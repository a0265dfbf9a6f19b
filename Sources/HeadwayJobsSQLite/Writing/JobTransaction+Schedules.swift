#if Jobs
import GRDB
import HeadwayJobs

extension JobTransaction {
  // The shared algorithms are mutating functions. This class is a reference, so it calls them on a copy of the
  // reference.

  /// Adds the jobs of due ticks.
  func advanceSchedules() throws {
    var rows = self
    try rows.addDueJobs()
  }

  func perform(_ command: ScheduleCommand, on name: String) throws -> ScheduleAnswer {
    var rows = self
    return try rows.change(name, command)
  }
}

extension JobTransaction: ScheduleRows {
  func dueSchedules() throws -> [String] {
    let due = try statement("SELECT name FROM headway_schedule WHERE next <= ?1 ORDER BY next, name")
    due.bind(now.microseconds, at: 1)
    var names: [String] = []
    try due.forEachRow { names.append($0.text(0)) }
    return names
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
    let statement = try statement(ScheduleRow.replace)
    ScheduleRow.bind(schedule, to: statement)
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
