#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// New jobs that one statement can store: without keys or dependencies.
struct PlainJobs: Sendable {
  /// The jobs; at least one.
  let jobs: [NewJob]

  /// SQL can compute with delays of up to about 30 years.
  private static let longestDelay = 1e15

  /// Returns whether one statement can store a job, unless its queue has a pending limit.
  static func contains(_ job: NewJob) -> Bool {
    guard job.settings.unique == nil, job.dependencies.isEmpty else { return false }
    return job.delay.map { $0 / .microseconds(1) < longestDelay } ?? true
  }

  /// A stored job.
  struct Stored {
    let id: JobID
    let isScheduled: Bool
  }

  /// Stores the jobs, or none if a queue has a pending limit.
  ///
  /// - Throws: `PostgresError`.
  /// - Returns: The jobs and the time of the server; nil if none was stored.
  func insert(
    _ session: PostgresSession, _ schema: SchemaName, receipt: Receipt, at time: StoreTime?
  ) throws -> (stored: [Stored], now: StoreTime)? {
    let job = jobs[0]
    let isOneKind = jobs.allSatisfy { $0.kind == job.kind && $0.queue == job.queue }
    let sql = isOneKind ? EnqueueSQL.insertPlainOfOneKind : EnqueueSQL.insertPlain
    var insert = Statement(schema.sql(sql), isFrequent: true)
    insert.add(array: jobs.map(\.queue))
    insert.add(array: jobs.map(\.kind.rawValue))
    insert.add(array: jobs.map { Int64($0.version) })
    insert.add(array: jobs.map { Int64($0.priority) })
    insert.add(array: jobs.map { $0.delay.map { Int64(max($0, .zero) / .microseconds(1)) } })
    insert.add(array: jobs.map(\.startTime))
    insert.add(array: jobs.map(\.deadline))
    insert.add(array: jobs.map { JobRow.keep($0.settings) })
    insert.add(array: jobs.map(\.settings.stored))
    insert.add(array: jobs.map(\.payload.bytes))
    insert.add(array: jobs.map { $0.settings.firstLimit?.storedKey })
    insert.add(array: jobs.map { $0.settings.firstLimit?.slots.map(Int64.init) })
    insert.add(time)
    insert.add(receipt.row)
    insert.add(receipt.token)
    insert.add(array: jobs.map { $0.settings.firstLimit.map { Int64($0.units) } })
    insert.add(array: jobs.map(\.settings.furtherLimits))
    if isOneKind {
      insert.add(job.queue)
      insert.add(job.kind.rawValue)
      insert.add(jobs.count)
    }
    // The settings of a transaction apply to all statements up to the next synchronization.
    let rows = try session.run(session.requestSettings + [insert]).last?.rows ?? []
    guard let first = rows.first else { return nil }
    return (rows.map { Stored(id: $0.id(0), isScheduled: $0.int(1) == JobState.scheduled.rawValue) }, first.time(2))
  }
}

/// The receipts of one sender of transactions.
struct Receipts: Sendable {
  /// How many receipts use one row.
  ///
  /// While another client holds a snapshot open, all versions of a row remain, and each update of the row reads them.
  private static let maxCountInRow = 500

  private var row: Int64 = .random(in: .min ... .max)
  private var countInRow = 0

  /// Returns the receipt of the next transaction.
  mutating func next() -> Receipt {
    if countInRow == Self.maxCountInRow { (row, countInRow) = (.random(in: .min ... .max), 0) }
    countInRow += 1
    return Receipt(row: row, token: .random(in: .min ... .max))
  }
}

/// The identity of a transaction that stores jobs, to find out after a lost connection whether it was committed.
struct Receipt: Hashable, Sendable {
  /// The row of the receipt.
  let row: Int64
  /// The transaction.
  let token: Int64

  /// Writes the receipt in a transaction.
  func write(_ enqueued: [Enqueued], _ transaction: JobTransaction) {
    var put = transaction.statement(EnqueueSQL.writeReceipt)
    put.add(row)
    put.add(token)
    put.add(array: enqueued.map(\.id.rawValue))
    put.add(array: enqueued.map(\.isNew))
    transaction.runLater(put)
  }

  /// Returns the jobs of the transaction if it was committed.
  func read(_ session: PostgresSession, _ schema: SchemaName) throws -> [Enqueued]? {
    guard let row = try session.run(Statement(schema.sql(EnqueueSQL.readReceipt), row, token)).first else {
      return nil
    }
    let (ids, areNew) = (row.int64s(0), row.bools(1))
    return ids.enumerated().map { index, id in
      Enqueued(id: JobID(rawValue: id), isNew: areNew.isEmpty || areNew[index])
    }
  }
}
#endif
