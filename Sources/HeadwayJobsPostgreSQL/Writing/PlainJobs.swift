#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// New jobs that one statement can store: without keys or dependencies.
struct PlainJobs: Sendable {
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
    var insert = Statement(schema.sql(Self.sql), isFrequent: true)
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
    // The settings of a transaction apply to all statements up to the next synchronization.
    let rows = try session.run(session.requestSettings + [insert]).last?.rows ?? []
    guard let first = rows.first else { return nil }
    return (rows.map { Stored(id: $0.id(0), isScheduled: $0.int(1) == JobState.scheduled.rawValue) }, first.time(2))
  }

  private static let sql = """
    WITH clock AS MATERIALIZED (SELECT coalesce($13::timestamptz, clock_timestamp()) AS now),
    stored AS (
      INSERT INTO headway.job (id, queue, kind, version, state, priority, position, due, deadline, enqueued, attempt,
      crashes, snoozes, epoch, flags, keep, unmet, settings, payload, ready, limit_key, slots, weight, further)
      SELECT nextval('headway.job_number'), queue, kind, version, CASE WHEN due > now THEN 1 ELSE 2 END, priority,
      nextval('headway.position'), CASE WHEN due > now THEN due END, deadline, now, 0, 0, 0, 0, 0, keep, 0, settings,
      payload, now, limit_key, slots, weight, further FROM (
        SELECT x.*, coalesce(now + delay * interval '1 microsecond', start) AS due, now FROM clock,
        unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::timestamptz[],
        $8::bigint[], $9::bytea[], $10::bytea[], $11::text[], $12::bigint[], $16::bigint[], $17::text[])
        AS x(queue, kind, version, priority, delay, start, deadline, keep, settings, payload, limit_key, slots, weight,
        further)) x
      WHERE NOT EXISTS (SELECT FROM headway.queue q WHERE q.pending IS NOT NULL AND q.name = ANY($1))
      RETURNING id, state),
    receipt AS (
      INSERT INTO headway.receipt (number, token, ids, are_new, stored)
      SELECT $14, $15, array_agg(id ORDER BY id), '{}', clock_timestamp() FROM stored HAVING count(*) > 0
      ON CONFLICT (number) DO UPDATE SET token = excluded.token, ids = excluded.ids, are_new = excluded.are_new,
      stored = excluded.stored)
    SELECT id, state, now FROM stored, clock ORDER BY id
    """
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
    var put = transaction.statement("SELECT headway.write_receipt($1, $2, $3, $4)")
    put.add(row)
    put.add(token)
    put.add(array: enqueued.map(\.id.rawValue))
    put.add(array: enqueued.map(\.isNew))
    transaction.runLater(put)
  }

  /// Returns the jobs of the transaction if it was committed.
  func read(_ session: PostgresSession, _ schema: SchemaName) throws -> [Enqueued]? {
    let sql = "SELECT ids, are_new FROM headway.read_receipt($1, $2)"
    guard let row = try session.run(Statement(schema.sql(sql), row, token)).first else { return nil }
    let (ids, areNew) = (row.int64s(0), row.bools(1))
    return ids.enumerated().map { index, id in
      Enqueued(id: JobID(rawValue: id), isNew: areNew.isEmpty || areNew[index])
    }
  }
}
#endif
