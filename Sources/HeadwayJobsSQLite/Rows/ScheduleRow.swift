#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// The rows of schedules.
enum ScheduleRow {
  typealias KnownDefinitions = [[UInt8]: ScheduleDefinition]

  static let columns = "name, definition, anchor, decided, last_tick, last_job, paused, next, gaps"
  static let replace = """
    INSERT OR REPLACE INTO headway_schedule (\(columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    """

  static func bind(_ schedule: ScheduleRecord, to statement: SQLStatement) {
    statement.bind(schedule.name, at: 1)
    statement.bind(schedule.definition.stored, at: 2)
    statement.bind(schedule.anchorTime.microseconds, at: 3)
    statement.bind(schedule.decidedTime.microseconds, at: 4)
    statement.bind(schedule.lastTickTime?.microseconds, at: 5)
    statement.bind(schedule.lastJob?.rawValue, at: 6)
    statement.bind(schedule.isPaused ? 1 : 0, at: 7)
    statement.bind(schedule.nextTickTime?.microseconds, at: 8)
    statement.bind(ScheduleGap.stored(schedule.gaps), at: 9)
  }

  /// Reads a row.
  ///
  /// - Parameters:
  ///   - row: A row with ``columns``.
  ///   - substitute: A definition to use if the stored one can't be read; nil to throw an error.
  ///   - known: Definitions that have already been decoded, by their stored form.
  /// - Throws: `JobError` with the code `undecodablePayload`, unless there is a substitute.
  /// - Returns: The schedule.
  static func read(
    _ row: SQLStatement, orWith substitute: ScheduleDefinition? = nil, known: KnownDefinitions = [:]
  ) throws -> ScheduleRecord {
    func time(_ column: Int32) -> StoreTime? {
      row.isNull(column) ? nil : StoreTime(microseconds: row.int64(column))
    }
    let definition: ScheduleDefinition
    do {
      let stored = row.bytes(1)
      definition = try known[stored] ?? ScheduleDefinition(stored: stored)
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
      name: row.text(0), definition: definition, anchorTime: StoreTime(microseconds: row.int64(2)),
      decidedTime: StoreTime(microseconds: row.int64(3)))
    schedule.lastTickTime = time(4)
    schedule.lastJob = row.isNull(5) ? nil : JobID(rawValue: row.int64(5))
    schedule.isPaused = row.int(6) != 0
    schedule.nextTickTime = time(7)
    schedule.gaps = ScheduleGap.gaps(stored: row.text(8))
    return schedule
  }

  /// Decodes the definitions of due schedules, up to the limit of a transaction.
  ///
  /// Decoding takes longer than all other steps of a tick, so it happens before the transaction.
  static func dueDefinitions(_ database: Database, _ now: StoreTime) throws -> KnownDefinitions {
    let due = try SQLStatement(
      "SELECT definition FROM headway_schedule WHERE next <= ?1 ORDER BY next, name LIMIT ?2", database)
    due.bind(now.microseconds, at: 1)
    due.bind(JobCommand.maxChangedCount, at: 2)
    var known: KnownDefinitions = [:]
    try due.forEachRow { row in
      let stored = row.bytes(0)
      if known[stored] == nil { known[stored] = try? ScheduleDefinition(stored: stored) }
    }
    return known
  }
}
#endif
