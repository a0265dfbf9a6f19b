/// The rows of schedules in a database.
@_spi(JobStore) public enum ScheduleRow {
  /// Definitions that have already been decoded, by their stored form.
  public typealias KnownDefinitions = [[UInt8]: ScheduleDefinition]

  /// The columns, in the order of ``write(_:to:)`` and ``read(_:orWith:known:)``.
  public static let columns = "name, definition, anchor, decided, last_tick, last_job, paused, next, gaps"

  /// Adds the columns of a schedule.
  public static func write(_ schedule: ScheduleRecord, to values: inout some StoredRowWriter) {
    values.add(schedule.name)
    values.add(schedule.definition.stored)
    values.add(schedule.anchorTime)
    values.add(schedule.decidedTime)
    values.add(schedule.lastTickTime)
    values.add(schedule.lastJob?.rawValue)
    values.add(schedule.isPaused)
    values.add(schedule.nextTickTime)
    values.add(ScheduleGap.stored(schedule.gaps))
  }

  /// Adds the columns that ticks change: `name, decided, last_tick, last_job, next, gaps`.
  public static func writeTick(of schedule: ScheduleRecord, to values: inout some StoredRowWriter) {
    values.add(schedule.name)
    values.add(schedule.decidedTime)
    values.add(schedule.lastTickTime)
    values.add(schedule.lastJob?.rawValue)
    values.add(schedule.nextTickTime)
    values.add(ScheduleGap.stored(schedule.gaps))
  }

  /// Reads a row.
  ///
  /// - Parameters:
  ///   - row: A row with ``columns``.
  ///   - substitute: A definition to use if the stored one can't be read; nil to throw an error.
  ///   - known: Definitions that have already been decoded.
  /// - Throws: ``JobError`` with the code ``JobError/Code/undecodablePayload``, unless there is a substitute.
  /// - Returns: The schedule that the row contains.
  public static func read(
    _ row: some StoredRow, orWith substitute: ScheduleDefinition? = nil, known: KnownDefinitions = [:]
  ) throws -> ScheduleRecord {
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
      name: row.text(0), definition: definition, anchorTime: row.time(2), decidedTime: row.time(3))
    schedule.lastTickTime = row.optional(4, row.time)
    schedule.lastJob = row.optional(5, row.id)
    schedule.isPaused = row.bool(6)
    schedule.nextTickTime = row.optional(7, row.time)
    schedule.gaps = ScheduleGap.gaps(stored: row.text(8))
    return schedule
  }
}
