@_spi(JobStore) extension SQLJobRows {
  /// No definitions.
  public var knownDefinitions: ScheduleRow.KnownDefinitions { [:] }

  /// Returns the schedules that have a due tick, ordered by tick, up to a limit.
  public func dueSchedules(limit: Int) throws -> [DueSchedule] {
    try rows(
      Schedules.due,
      {
        $0.add(now)
        $0.add(limit)
      }
    ) { row in
      do {
        let schedule = try ScheduleRow.read(row, known: knownDefinitions)
        return DueSchedule(name: schedule.name, schedule, isLastJobUnfinished: row.bool(9))
      } catch let error as JobError where error.code == .undecodablePayload {
        return DueSchedule(name: row.text(0), nil, isLastJobUnfinished: false)
      }
    }
  }

  /// Returns the schedule with the given name.
  ///
  /// The definition replaces a stored one that can't be read.
  public func schedule(_ name: String, orWith definition: ScheduleDefinition?) throws -> ScheduleRecord? {
    try rows(Schedules.find, { $0.add(name) }) { try ScheduleRow.read($0, orWith: definition) }.first
  }

  /// Writes a schedule, which might be new.
  public func write(_ schedule: ScheduleRecord) throws {
    try run(Schedules.put) { ScheduleRow.write(schedule, to: &$0) }
  }

  /// Writes the changes of ticks, and the last jobs.
  public func writeTicks(of schedules: [ScheduleRecord]) throws {
    try run(Schedules.putTicks, for: schedules) { ScheduleRow.writeTick(of: $0, to: &$1) }
  }

  /// Sets the time of the next ticks, without changing anything else.
  public func postpone(_ names: [String], to time: StoreTime) throws {
    try run(Schedules.postpone, for: names, { $1.add($0) }, constants: { $0.add(time) })
  }

  /// Removes a schedule and returns whether there was one.
  public func removeSchedule(_ name: String) throws -> Bool {
    try !rows(Schedules.delete, { $0.add(name) }) { _ in }.isEmpty
  }
}
