#if PostgreSQL
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
    try run("SELECT name FROM headway.schedule WHERE next <= $1 ORDER BY next, name", now).rows.map { $0.text(0) }
  }

  /// Returns a schedule, and locks its row.
  func schedule(_ name: String, orWith definition: ScheduleDefinition?) throws -> ScheduleRecord? {
    try run("SELECT \(ScheduleRow.columns) FROM headway.schedule WHERE name = $1 FOR UPDATE", name).first
      .map { try ScheduleRow.read($0, orWith: definition) }
  }

  func isUnfinished(_ id: JobID) throws -> Bool {
    try !run("SELECT FROM headway.job WHERE id = $1", id.rawValue).isEmpty
  }

  func write(_ schedule: ScheduleRecord) throws {
    var statement = statement(ScheduleRow.put)
    ScheduleRow.add(schedule, to: &statement)
    runLater(statement)
  }

  func postpone(_ name: String, to time: StoreTime) throws {
    runLater("UPDATE headway.schedule SET next = $2 WHERE name = $1", name, time)
  }

  func removeSchedule(_ name: String) throws -> Bool {
    try !run("DELETE FROM headway.schedule WHERE name = $1 RETURNING name", name).isEmpty
  }
}
#endif
