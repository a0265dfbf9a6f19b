#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobRow {
  /// Binds an unfinished job to ``JobSQL/insert`` or ``JobSQL/update``, or to a row of ``JobSQL/insertBatch``.
  static func bindUnfinished(_ job: JobRecord, to statement: SQLStatement, row: Int = 0, flags: Int = 0) {
    var values = ParameterBinder(statement, from: row * (common.count + unfinished.count) + 1)
    writeUnfinished(job, flags: flags, to: &values)
  }

  /// Binds an attempt to the parameters of ``JobSQL/isRun``.
  static func bind(_ fence: JobFence, to statement: SQLStatement) {
    var values = ParameterBinder(statement)
    write(fence, to: &values)
  }

  static func checkpoint(_ name: String, of id: JobID, _ database: Database) throws -> JobPayload? {
    let statement = try SQLStatement(CheckpointSQL.find, database)
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    statement.bind(name, at: 2)
    return try statement.step() ? JobPayload(bytes: statement.bytes(1)) : nil
  }
}

extension QueueRow {
  static func readAll(_ database: Database) throws -> [String: JobQueueRecord] {
    var queues: [String: JobQueueRecord] = [:]
    try SQLStatement(LimitSQL.queues, database).forEachRow { row in
      let (name, queue) = read(row)
      queues[name] = queue
    }
    return queues
  }
}

extension ScheduleRow {
  /// Decodes the definitions of due schedules, up to the limit of a transaction.
  ///
  /// Decoding takes longer than all other steps of a tick, so it happens before the transaction.
  static func dueDefinitions(_ database: Database, _ now: StoreTime) throws -> KnownDefinitions {
    let due = try SQLStatement(ScheduleSQL.dueDefinitions, database)
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
