#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  /// Returns schedules that have a due tick, and locks their rows.
  func dueSchedules(limit: Int) throws -> [DueSchedule] {
    let due = try run(
      """
      SELECT \(ScheduleRow.columns), EXISTS (SELECT FROM headway.job WHERE id = last_job) FROM headway.schedule
      WHERE next <= $1 ORDER BY next, name LIMIT $2 FOR UPDATE
      """, now, limit)
    return try due.rows.map { row in
      do {
        return DueSchedule(name: row.text(0), try ScheduleRow.read(row), isLastJobUnfinished: row.bool(9))
      } catch let error as JobError where error.code == .undecodablePayload {
        return DueSchedule(name: row.text(0), nil, isLastJobUnfinished: false)
      }
    }
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
    var statement = statement(RowSQL.putSchedule)
    ScheduleRow.add(schedule, to: &statement)
    runLater(statement)
  }

  func writeTick(of schedule: ScheduleRecord) throws {
    newRows.schedules.append(schedule)
    try writeNewRowsIfFull()
  }

  func postpone(_ name: String, to time: StoreTime) throws {
    runLater("UPDATE headway.schedule SET next = $2 WHERE name = $1", name, time)
  }

  func removeSchedule(_ name: String) throws -> Bool {
    try !run("DELETE FROM headway.schedule WHERE name = $1 RETURNING name", name).isEmpty
  }
}
#endif
