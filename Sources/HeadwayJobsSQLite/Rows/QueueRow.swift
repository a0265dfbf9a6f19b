#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// The rows of queues: a queue is in `headway_queue` if it is paused or has settings.
enum QueueRow {
  static func readAll(_ database: Database) throws -> [String: JobQueueRecord] {
    var queues: [String: JobQueueRecord] = [:]
    let rows = try SQLStatement(
      "SELECT name, paused, slots, pending, failure_limit, failures, aging FROM headway_queue", database)
    try rows.forEachRow { row in
      var queue = JobQueueRecord()
      queue.isPaused = row.int(1) != 0
      queue.settings.maxRunningJobCount = row.isNull(2) ? nil : row.int(2)
      queue.settings.maxPendingJobCount = row.isNull(3) ? nil : row.int(3)
      queue.settings.maxFailureCount = row.isNull(4) ? nil : row.int(4)
      queue.failureCount = row.int(5)
      queue.settings.agingInterval = row.isNull(6) ? nil : .microseconds(row.int64(6))
      queues[row.text(0)] = queue
    }
    return queues
  }

  static func write(_ queue: JobQueueRecord, name: String, _ database: Database) throws {
    let sql =
      queue == JobQueueRecord()
      ? "DELETE FROM headway_queue WHERE name = ?1"
      : """
      INSERT OR REPLACE INTO headway_queue (name, paused, slots, pending, failure_limit, failures, aging)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    let statement = try SQLStatement(sql, database)
    statement.bind(name, at: 1)
    if queue != JobQueueRecord() {
      statement.bind(queue.isPaused ? 1 : 0, at: 2)
      statement.bind(queue.settings.maxRunningJobCount.map(Int64.init), at: 3)
      statement.bind(queue.settings.maxPendingJobCount.map(Int64.init), at: 4)
      statement.bind(queue.settings.maxFailureCount.map(Int64.init), at: 5)
      statement.bind(queue.failureCount, at: 6)
      statement.bind(queue.settings.agingInterval.map { (StoreTime(microseconds: 0) + $0).microseconds }, at: 7)
    }
    try statement.run()
  }
}
#endif
