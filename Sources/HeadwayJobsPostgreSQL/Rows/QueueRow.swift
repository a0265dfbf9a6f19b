#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The rows of queues: a queue is in the table `queue` if it is paused or has settings.
enum QueueRow {
  static let select = "SELECT name, paused, slots, pending, failure_limit, failures, aging FROM headway.queue"

  static func readAll(_ result: QueryResult) -> [String: JobQueueRecord] {
    var queues: [String: JobQueueRecord] = [:]
    for row in result.rows {
      var queue = JobQueueRecord()
      queue.isPaused = row.bool(1)
      queue.settings.maxRunningJobCount = row.optional(2, row.int)
      queue.settings.maxPendingJobCount = row.optional(3, row.int)
      queue.settings.maxFailureCount = row.optional(4, row.int)
      queue.failureCount = row.int(5)
      queue.settings.agingInterval = row.optional(6) { .microseconds(row.int64($0)) }
      queues[row.text(0)] = queue
    }
    return queues
  }

  static func write(_ queue: JobQueueRecord, name: String, _ transaction: JobTransaction) -> Statement {
    guard queue != JobQueueRecord() else {
      return transaction.statement("DELETE FROM headway.queue WHERE name = $1", name)
    }
    var statement = transaction.statement(
      """
      INSERT INTO headway.queue (name, paused, slots, pending, failure_limit, failures, aging)
      VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO UPDATE SET paused = excluded.paused,
      slots = excluded.slots, pending = excluded.pending, failure_limit = excluded.failure_limit,
      failures = excluded.failures, aging = excluded.aging
      """)
    statement.add(name)
    statement.add(queue.isPaused)
    statement.add(queue.settings.maxRunningJobCount)
    statement.add(queue.settings.maxPendingJobCount)
    statement.add(queue.settings.maxFailureCount)
    statement.add(queue.failureCount)
    statement.add(queue.settings.agingInterval.map { (StoreTime(microseconds: 0) + $0).microseconds })
    return statement
  }
}
#endif
