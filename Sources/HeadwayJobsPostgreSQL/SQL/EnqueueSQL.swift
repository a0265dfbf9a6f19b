#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements that add jobs without reading others.
enum EnqueueSQL {
  /// Inserts jobs without keys or dependencies, and the receipt, or nothing if a queue has a pending limit.
  ///
  /// It is a separate transaction. The jobs are counted by queue and kind.
  static let insertPlain = insertPlain(
    counting: "SELECT now, queue, kind, count(*) FROM stored, clock GROUP BY now, queue, kind")
  /// The same for jobs of one queue and kind, which takes less time to plan: queue, kind and number of the jobs.
  static let insertPlainOfOneKind = insertPlain(
    counting: "SELECT now, $18, $19, $20 FROM clock WHERE EXISTS (SELECT FROM stored)")

  private static func insertPlain(counting activity: String) -> String {
    """
    WITH clock AS MATERIALIZED (SELECT coalesce($13::timestamptz, clock_timestamp()) AS now),
    stored AS (
      INSERT INTO headway.job (id, queue, kind, version, state, priority, position, due, deadline, enqueued, attempt,
      crashes, snoozes, epoch, flags, keep, unmet, settings, payload, ready, limit_key, slots, weight, further)
      SELECT nextval('headway.job_number'), queue, kind, version,
      CASE WHEN due > now THEN \(JobState.scheduled.rawValue) ELSE \(JobState.waiting.rawValue) END, priority,
      nextval('headway.position'), CASE WHEN due > now THEN due END, deadline, now, 0, 0, 0, 0, 0, keep, 0, settings,
      payload, now, limit_key, slots, weight, further FROM (
        SELECT x.*, coalesce(now + delay * interval '1 microsecond', start) AS due, now FROM clock,
        unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::timestamptz[],
        $8::bigint[], $9::bytea[], $10::bytea[], $11::text[], $12::bigint[], $16::bigint[], $17::text[])
        AS x(queue, kind, version, priority, delay, start, deadline, keep, settings, payload, limit_key, slots, weight,
        further)) x
      WHERE NOT EXISTS (SELECT FROM headway.queue q WHERE q.pending IS NOT NULL AND q.name = ANY($1))
      RETURNING id, state, queue, kind),
    counted AS (
      INSERT INTO headway.activity (counted, queue, kind, enqueued) \(activity)),
    receipt AS (
      INSERT INTO headway.receipt (number, token, ids, are_new, stored)
      SELECT $14, $15, array_agg(id ORDER BY id), '{}', clock_timestamp() FROM stored HAVING count(*) > 0
      ON CONFLICT (number) DO UPDATE SET token = excluded.token, ids = excluded.ids, are_new = excluded.are_new,
      stored = excluded.stored)
    SELECT id, state, now FROM stored, clock ORDER BY id
    """
  }

  /// Calls the function `enqueue` for several jobs, in their order.
  static let call = """
    SELECT e.id, e.is_new FROM unnest($1::text[], $2::bytea[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[], $11::bigint[], $12::bytea[], $13::bigint[],
    $14::text[], $15::bigint[], $16::boolean[], $17::bigint[], $18::text[]) WITH ORDINALITY AS x(kind, payload, queue,
    version, priority, delay, start, deadline, key, scope, duration, settings, keep, limit_key, slots, needs_room,
    weight, further, place)
    CROSS JOIN LATERAL headway.enqueue(x.kind, x.payload, x.queue, x.version, x.priority,
    x.delay * interval '1 microsecond', x.start, x.deadline, x.key, x.scope, x.duration * interval '1 microsecond',
    x.settings, x.keep, x.limit_key, x.slots, x.needs_room, x.weight, x.further) e
    ORDER BY x.place
    """

  // MARK: Receipts

  /// Writes a receipt; by the primary key.
  static let writeReceipt = "SELECT headway.write_receipt($1, $2, $3, $4)"
  /// Reads a receipt; by the primary key.
  static let readReceipt = "SELECT ids, are_new FROM headway.read_receipt($1, $2)"
  /// Deletes old receipts, up to a limit.
  static let pruneReceipts = """
    DELETE FROM headway.receipt WHERE number IN (SELECT number FROM headway.receipt
    WHERE stored < clock_timestamp() - interval '1 hour' LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
    """
  /// Whether a process of the server has not ended: number and start.
  static let isRunning = """
    SELECT FROM pg_stat_activity
    WHERE pid = $1 AND (extract(epoch FROM backend_start) * 1000000)::bigint IS NOT DISTINCT FROM $2
    """
}
#endif
