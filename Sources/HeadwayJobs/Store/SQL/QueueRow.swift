/// The rows of queues in a database: a queue has a row if it is paused or has settings.
@_spi(JobStore) public enum QueueRow {
  /// The columns, in the order of ``write(_:name:to:)`` and ``read(_:)``.
  public static let columns = "name, paused, slots, pending, failure_limit, failures, aging"

  /// Adds the columns of a queue.
  public static func write(_ queue: JobQueueRecord, name: String, to values: inout some StoredRowWriter) {
    values.add(name)
    values.add(queue.isPaused)
    values.add(queue.settings.maxRunningJobCount.map(Int64.init))
    values.add(queue.settings.maxPendingJobCount.map(Int64.init))
    values.add(queue.settings.maxFailureCount.map(Int64.init))
    values.add(queue.failureCount)
    values.add(queue.settings.agingInterval.map { (StoreTime(microseconds: 0) + $0).microseconds })
  }

  /// Reads a row.
  ///
  /// - Parameter row: A row with ``columns``.
  /// - Returns: The name and the settings of the queue.
  public static func read(_ row: some StoredRow) -> (name: String, queue: JobQueueRecord) {
    var queue = JobQueueRecord()
    queue.isPaused = row.bool(1)
    queue.settings.maxRunningJobCount = row.optional(2, row.int)
    queue.settings.maxPendingJobCount = row.optional(3, row.int)
    queue.settings.maxFailureCount = row.optional(4, row.int)
    queue.failureCount = row.int(5)
    queue.settings.agingInterval = row.optional(6) { .microseconds(row.int64($0)) }
    return (row.text(0), queue)
  }

  /// Returns the queues by their names.
  ///
  /// Names that differ only in the bytes of their characters are equal in a dictionary: the later row takes precedence.
  public static func byName(_ rows: [(name: String, queue: JobQueueRecord)]) -> [String: JobQueueRecord] {
    Dictionary(rows.map { ($0.name, $0.queue) }, uniquingKeysWith: { $1 })
  }
}
