#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobRow {
  /// Binds an unfinished job to ``JobSQL/insert`` or ``JobSQL/update``, or to a row of ``JobSQL/insertBatch``.
  static func bindUnfinished(_ job: JobRecord, to statement: SQLStatement, row: Int = 0, flags: Int = 0) {
    var values = ParameterBinder(statement, from: row * (common.count + unfinished.count) + 1)
    writeUnfinished(job, flags: flags, to: &values)
  }

  /// Binds a finished job to ``JobSQL/insertFinished``.
  static func bindFinished(_ job: JobRecord, to statement: SQLStatement) {
    var values = ParameterBinder(statement)
    writeFinished(job, to: &values)
  }

  /// Binds an attempt to the parameters of ``JobSQL/isRun``.
  static func bind(_ fence: JobFence, to statement: SQLStatement) {
    var values = ParameterBinder(statement)
    write(fence, to: &values)
  }
}

extension ScheduleRow {
  /// Binds a schedule to ``RowSQL/putSchedule``.
  static func bind(_ schedule: ScheduleRecord, to statement: SQLStatement) {
    var values = ParameterBinder(statement)
    write(schedule, to: &values)
  }

  /// Decodes the definitions of due schedules, up to the limit of a transaction.
  ///
  /// Decoding takes longer than all other steps of a tick, so it happens before the transaction.
  static func dueDefinitions(_ database: Database, _ now: StoreTime) throws -> KnownDefinitions {
    let due = try SQLStatement(RowSQL.dueDefinitions, database)
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

extension QueueRow {
  /// Writes or deletes the row of a queue.
  static func write(_ queue: JobQueueRecord, name: String, _ database: Database) throws {
    let isEmpty = queue == JobQueueRecord()
    let statement = try SQLStatement(isEmpty ? RowSQL.deleteQueue : RowSQL.putQueue, database)
    if isEmpty {
      statement.bind(name, at: 1)
    } else {
      var values = ParameterBinder(statement)
      write(queue, name: name, to: &values)
    }
    try statement.run()
  }
}
#endif
