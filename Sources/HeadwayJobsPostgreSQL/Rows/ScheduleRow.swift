#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The rows of schedules.
enum ScheduleRow {
  static let columns = "name, definition, anchor, decided, last_tick, last_job, paused, next, gaps"
  static let put = """
    INSERT INTO headway.schedule (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, anchor = excluded.anchor,
    decided = excluded.decided, last_tick = excluded.last_tick, last_job = excluded.last_job, paused = excluded.paused,
    next = excluded.next, gaps = excluded.gaps
    """

  /// Writes the changes that ticks have caused.
  static let putTicks = """
    UPDATE headway.schedule s SET decided = x.decided, last_tick = x.last_tick, last_job = x.last_job, next = x.next,
    gaps = x.gaps
    FROM unnest($1, $2, $3, $4, $5, $6) AS x(name, decided, last_tick, last_job, next, gaps) WHERE s.name = x.name
    """

  static func addTicks(of schedules: [ScheduleRecord], to statement: inout Statement) {
    statement.add(array: schedules.map(\.name))
    statement.add(array: schedules.map(\.decidedTime))
    statement.add(array: schedules.map(\.lastTickTime))
    statement.add(array: schedules.map { $0.lastJob?.rawValue })
    statement.add(array: schedules.map(\.nextTickTime))
    statement.add(array: schedules.map { ScheduleGap.stored($0.gaps) })
  }

  static func add(_ schedule: ScheduleRecord, to statement: inout Statement) {
    statement.add(schedule.name)
    statement.add(schedule.definition.stored)
    statement.add(schedule.anchorTime)
    statement.add(schedule.decidedTime)
    statement.add(schedule.lastTickTime)
    statement.add(schedule.lastJob?.rawValue)
    statement.add(schedule.isPaused)
    statement.add(schedule.nextTickTime)
    statement.add(ScheduleGap.stored(schedule.gaps))
  }

  /// Reads a row.
  ///
  /// - Parameters:
  ///   - row: A row with ``columns``.
  ///   - substitute: A definition to use if the stored one can't be read; nil to throw an error.
  /// - Throws: `JobError` with the code `undecodablePayload`, unless there is a substitute.
  /// - Returns: The schedule.
  static func read(_ row: ResultRow, orWith substitute: ScheduleDefinition? = nil) throws -> ScheduleRecord {
    let definition: ScheduleDefinition
    do {
      definition = try ScheduleDefinition(stored: row.bytes(1))
    } catch {
      guard let substitute else {
        throw JobError(
          .undecodablePayload,
          "The schedule \(row.text(0)) can't be read. A newer version of Headway might have written it, or this "
            + "program does not know its time zone: \(error)", underlyingError: error)
      }
      definition = substitute
    }
    var schedule = ScheduleRecord(
      name: row.text(0), definition: definition, anchorTime: row.time(2), decidedTime: row.time(3))
    schedule.lastTickTime = row.optional(4, row.time)
    schedule.lastJob = row.optional(5, row.id)
    schedule.isPaused = row.bool(6)
    schedule.nextTickTime = row.optional(7, row.time)
    schedule.gaps = ScheduleGap.gaps(stored: row.text(8))
    return schedule
  }
}
#endif
