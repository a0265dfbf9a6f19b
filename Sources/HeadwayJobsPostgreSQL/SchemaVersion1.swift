#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The first version of the tables.
///
/// They have the same columns as those of `SQLiteJobStore`.
enum SchemaVersion1 {
  static let statements = [
    "CREATE TABLE headway.meta (name text PRIMARY KEY, value bigint NOT NULL)",
    "INSERT INTO headway.meta VALUES ('schema', 0)",
    "CREATE SEQUENCE headway.job_number",
    "CREATE SEQUENCE headway.position",
    // Unfinished jobs. State: 0 held, 1 scheduled, 2 waiting, 3 running. Flags: 1 cancel requested, 2 holds key until
    // claimed, 4 has dependents, 8 has checkpoints. Keep: microseconds. Unmet: how many dependencies a held job waits
    // for. Slots: how many units of the first limit's key can be in use; 0 for a serial key, null for a rate. Weight:
    // how many units or tokens the job takes. Further: the other limits, as JSON; '-' if the job has one limit.
    // Awaits: the signal or sleep that a scheduled job waits for.
    // An index row has at most 2,704 bytes, so a job with longer names could not change its state.
    """
    CREATE TABLE headway.job (
      id bigint PRIMARY KEY, queue text NOT NULL, kind text NOT NULL, version bigint NOT NULL, state smallint NOT NULL,
      priority bigint NOT NULL, position bigint NOT NULL, due timestamptz, deadline timestamptz,
      enqueued timestamptz NOT NULL, claimed timestamptz, first_claimed timestamptz, attempt integer NOT NULL,
      crashes integer NOT NULL, snoozes integer NOT NULL, epoch integer NOT NULL, owner bigint, flags smallint NOT NULL,
      keep bigint, unique_key text, unmet integer NOT NULL, progress double precision, progress_text text,
      settings bytea, history bytea, payload bytea NOT NULL, ready timestamptz NOT NULL, limit_key text COLLATE "C",
      slots bigint, weight bigint, further text COLLATE "C", awaits text,
      CONSTRAINT job_has_short_names CHECK (octet_length(queue) <= 512 AND octet_length(kind) <= 512
        AND octet_length(unique_key) <= 1024 AND octet_length(limit_key) <= 1033
        AND octet_length(further) <= 1024))
    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
      autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.02)
    """,
    """
    CREATE INDEX job_waiting ON headway.job (queue, priority DESC, position)
    WHERE state = 2 AND crashes = 0 AND limit_key IS NULL
    """,
    """
    CREATE INDEX job_keyed ON headway.job (queue, priority DESC, further, limit_key, position)
    WHERE state = 2 AND crashes = 0 AND limit_key IS NOT NULL
    """,
    "CREATE INDEX job_suspect ON headway.job (queue, priority DESC, position) WHERE state = 2 AND crashes > 0",
    "CREATE INDEX job_slots ON headway.job (limit_key) INCLUDE (weight) WHERE state = 3 AND limit_key IS NOT NULL",
    "CREATE INDEX job_further ON headway.job (further) WHERE state = 3 AND further > '-'",
    "CREATE INDEX job_serial ON headway.job (limit_key, position) WHERE slots = 0 AND state > 0",
    "CREATE INDEX job_held ON headway.job (queue) WHERE state = 0",
    "CREATE INDEX job_scheduled ON headway.job (queue) WHERE state = 1",
    "CREATE INDEX job_due ON headway.job (due) WHERE state = 1",
    "CREATE INDEX job_deadline ON headway.job (deadline) WHERE deadline IS NOT NULL AND state < 3",
    "CREATE INDEX job_running ON headway.job (owner) WHERE state = 3",
    "CREATE UNIQUE INDEX job_unique ON headway.job (unique_key) WHERE unique_key IS NOT NULL",
    // Finished jobs.
    """
    CREATE TABLE headway.done (
      id bigint PRIMARY KEY, queue text NOT NULL, kind text NOT NULL, version bigint NOT NULL, state smallint NOT NULL,
      priority bigint NOT NULL, position bigint NOT NULL, deadline timestamptz, enqueued timestamptz NOT NULL,
      claimed timestamptz, first_claimed timestamptz, attempt integer NOT NULL, crashes integer NOT NULL,
      snoozes integer NOT NULL, epoch integer NOT NULL, owner bigint, progress double precision, progress_text text,
      settings bytea, history bytea, payload bytea NOT NULL, ready timestamptz NOT NULL, finished timestamptz NOT NULL,
      expires timestamptz NOT NULL, reason text, reason_text text, result bytea, culprit bigint)
    """,
    "CREATE INDEX done_expires ON headway.done (expires)",
    "CREATE INDEX done_finished ON headway.done (finished)",
    "CREATE INDEX done_unsuccessful ON headway.done (state, id) WHERE state > 4",
    "CREATE INDEX done_culprit ON headway.done (culprit) WHERE culprit IS NOT NULL",
    // Dependencies, until the dependent is deleted. Status: 0 unmet, 1 met, 2 failed.
    """
    CREATE TABLE headway.edge (
      dependency bigint, dependent bigint, success boolean NOT NULL, status smallint NOT NULL,
      PRIMARY KEY (dependency, dependent))
    """,
    "CREATE INDEX edge_dependent ON headway.edge (dependent)",
    "CREATE INDEX edge_unmet ON headway.edge (dependency, dependent) WHERE status = 0",
    // Jobs that have ended and have unmet edges, which are settled when the store advances.
    "CREATE TABLE headway.cascade (job bigint PRIMARY KEY, culprit bigint NOT NULL)",
    // Keys that are held for a time. The others are in the table of jobs.
    "CREATE TABLE headway.key (key text PRIMARY KEY, job bigint NOT NULL, until timestamptz NOT NULL)",
    "CREATE INDEX key_until ON headway.key (until)",
    // The values of steps. Names that begin with headway/ belong to signals and waits.
    """
    CREATE TABLE headway.checkpoint (job bigint, name text, value bytea NOT NULL, PRIMARY KEY (job, name))
    """,
    // Queues that are paused or have settings. Aging: microseconds.
    """
    CREATE TABLE headway.queue (
      name text PRIMARY KEY, paused boolean NOT NULL, slots bigint, pending bigint, failure_limit bigint,
      failures bigint NOT NULL, aging bigint) WITH (fillfactor = 50)
    """,
    // The key that was served last, and whether a job without a key is next. Heavy: jobs that units are kept for.
    // Further: the group where the next claim begins, if one claim can't read the jobs of all groups.
    """
    CREATE TABLE headway.turn (
      queue text, priority bigint, key text, plain_next boolean NOT NULL, heavy text, further text COLLATE "C",
      PRIMARY KEY (queue, priority))
    WITH (fillfactor = 50)
    """,
    // Token buckets that are not full: when they will be, and when a waiting job can have a token.
    """
    CREATE TABLE headway.bucket (key text PRIMARY KEY, fills timestamptz NOT NULL, next timestamptz)
    WITH (fillfactor = 50)
    """,
    "CREATE INDEX bucket_next ON headway.bucket (next) WHERE next IS NOT NULL",
    // Schedules. All ticks up to the time in the column decided have been processed. Gaps: the periods in which they
    // have added no jobs, as after/through, in microseconds since 1970.
    """
    CREATE TABLE headway.schedule (
      name text PRIMARY KEY, definition bytea NOT NULL, anchor timestamptz NOT NULL, decided timestamptz NOT NULL,
      last_tick timestamptz, last_job bigint, paused boolean NOT NULL, next timestamptz, gaps text NOT NULL)
    """,
    "CREATE INDEX schedule_next ON headway.schedule (next) WHERE next IS NOT NULL",
    // Workers. Lease: when others rescue the jobs of the worker, by the server's clock.
    """
    CREATE TABLE headway.worker (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, started timestamptz NOT NULL, lease timestamptz NOT NULL,
      stopped boolean NOT NULL DEFAULT false, info bytea NOT NULL) WITH (fillfactor = 50)
    """,
    // Receipts of recent transactions that stored jobs. After a connection is lost, a row shows whether the
    // transaction was committed.
    """
    CREATE TABLE headway.receipt (
      number bigint PRIMARY KEY, token bigint NOT NULL, ids bigint[] NOT NULL, are_new boolean[] NOT NULL,
      stored timestamptz NOT NULL) WITH (fillfactor = 50)
    """,
    pendingCount, enqueue, signal, notify, meet, finish, writeReceipt, readReceipt,
    // Not every role may call the functions that run as the owner of the tables.
    """
    REVOKE EXECUTE ON FUNCTION headway.pending_count, headway.enqueue, headway.signal, headway.notify, headway.meet,
    headway.finish, headway.write_receipt, headway.read_receipt FROM PUBLIC
    """,
  ]

  /// The options that make a function run with the privileges of the owner of the tables.
  ///
  /// The search path contains no schema in which another role can create objects.
  private static let asOwner = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp"

  /// Counts the pending jobs of a queue up to a limit, in parts that each have an index.
  private static let pendingCount = """
    CREATE FUNCTION headway.pending_count(queue_name text, at_most bigint) RETURNS bigint LANGUAGE sql STABLE
    \(asOwner) AS $body$
    SELECT count(*) FROM (
      (SELECT FROM headway.job WHERE state = 2 AND crashes = 0 AND limit_key IS NULL AND queue = queue_name
      LIMIT at_most)
      UNION ALL (SELECT FROM headway.job WHERE state = 2 AND crashes = 0 AND limit_key IS NOT NULL
      AND queue = queue_name LIMIT at_most)
      UNION ALL (SELECT FROM headway.job WHERE state = 2 AND crashes > 0 AND queue = queue_name LIMIT at_most)
      UNION ALL (SELECT FROM headway.job WHERE state = 1 AND queue = queue_name LIMIT at_most)
      LIMIT at_most) pending
    $body$
    """

  /// Notifies the workers of a queue, for clients that have added jobs.
  ///
  /// The channel is that of `SchemaName`, and the message that of `HintGate`.
  private static let notify = """
    CREATE FUNCTION headway.notify(queue text DEFAULT 'default') RETURNS void LANGUAGE sql AS $body$
    SELECT pg_notify(
      CASE nspname WHEN 'headway' THEN 'headway_jobs' ELSE 'headway_jobs_' || nspname END, chr(31) || 'q' || queue)
    FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE pg_class.oid = 'headway.job'::regclass
    $body$
    """

  /// The edges that ended jobs can meet, in order, up to a limit.
  ///
  /// The server executes this as a loop over the jobs, which ends as soon as there are enough edges.
  private static let meetable = """
    SELECT x.id AS dependency, e.dependent, x.place FROM
    unnest($1::bigint[], $2::boolean[]) WITH ORDINALITY AS x(id, ok, place)
    CROSS JOIN LATERAL (
      SELECT dependent FROM headway.edge WHERE dependency = x.id AND status = 0 AND (x.ok OR NOT success)
      ORDER BY dependent LIMIT $3) e
    LIMIT $3
    """
  /// Locks the dependents of jobs that have ended, in the order of their numbers.
  ///
  /// The store executes this statement and the next one itself, because calling the function takes a tenth longer.
  static let lockDependents = """
    SELECT id FROM headway.job WHERE id IN (SELECT dependent FROM (\(meetable)) m) ORDER BY id FOR UPDATE
    """
  /// Makes the same changes as `JobGraph.status` and `JobGraph.meet`, for several jobs that have ended.
  ///
  /// This is a separate statement, so that it reads the locked versions of the rows. Its last row contains the number
  /// of edges instead of a state.
  static let meetEdges = """
    WITH meetable AS MATERIALIZED (\(meetable)),
    met AS (
      UPDATE headway.edge e SET status = 1 FROM meetable m
      WHERE e.dependency = m.dependency AND e.dependent = m.dependent AND e.status = 0
      RETURNING e.dependent, m.place),
    number AS (
      SELECT id, number, nextval('headway.position') AS position FROM (
        SELECT dependent AS id, count(*) AS number FROM met GROUP BY dependent ORDER BY max(place), dependent) m),
    changed AS (
      UPDATE headway.job j SET unmet = j.unmet - n.number,
      position = CASE WHEN j.unmet = n.number AND j.slots IS DISTINCT FROM 0 THEN n.position ELSE j.position END,
      ready = CASE WHEN j.unmet = n.number AND j.slots IS DISTINCT FROM 0 THEN $4 ELSE j.ready END,
      due = CASE WHEN j.unmet = n.number AND j.due <= $4 THEN NULL ELSE j.due END,
      state = CASE WHEN j.unmet > n.number THEN 0 WHEN j.due > $4 THEN 1 ELSE 2 END
      FROM number n WHERE j.id = n.id AND j.state = 0 RETURNING j.state, j.queue)
    SELECT state::bigint, queue FROM changed UNION ALL SELECT count(*), NULL FROM met
    """
  /// Settles the edges of jobs that have succeeded in a transaction of another client, up to a limit.
  private static let meet = """
    CREATE FUNCTION headway.meet(ends bigint[], successes boolean[], edges bigint, moment timestamptz) RETURNS void
    LANGUAGE sql AS $body$
    \(lockDependents);
    \(meetEdges);
    INSERT INTO headway.cascade SELECT id, id FROM unnest($1) AS x(id)
    WHERE EXISTS (SELECT FROM headway.edge WHERE dependency = x.id AND status = 0) ON CONFLICT (job) DO NOTHING
    $body$
    """

  /// Records the success of an attempt in a transaction of any client.
  ///
  /// A row that would not be kept remains for a minute, so that the worker of the attempt finds it. The plans are not
  /// kept, because the sizes of the tables change quickly.
  private static let finish = """
    CREATE FUNCTION headway.finish(
      job bigint, attempt bigint, epoch bigint, owner bigint, result bytea DEFAULT NULL,
      keep interval DEFAULT interval '1 day') RETURNS TABLE (id bigint)
    LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $body$
    #variable_conflict use_column
    DECLARE
      moment timestamptz := clock_timestamp();
      flags smallint;
      queue text;
    BEGIN
      SELECT j.flags, j.queue INTO flags, queue FROM headway.job j WHERE j.id = finish.job
      AND j.attempt = finish.attempt AND j.epoch = finish.epoch AND j.owner = finish.owner AND j.state + 0 = 3
      FOR UPDATE;
      IF NOT FOUND THEN RETURN; END IF;
      WITH gone AS (DELETE FROM headway.job j WHERE j.id = finish.job RETURNING j.*)
      INSERT INTO headway.done (id, queue, kind, version, state, priority, position, deadline, enqueued, claimed,
      first_claimed, attempt, crashes, snoozes, epoch, owner, progress, progress_text, settings, history, payload,
      ready, finished, expires, result)
      SELECT id, queue, kind, version, 4, priority, position, deadline, enqueued, claimed, first_claimed, attempt,
      crashes, snoozes, epoch, owner, progress, progress_text, settings, history, payload, ready, moment,
      moment + greatest(finish.keep, interval '1 minute'), finish.result FROM gone;
      DELETE FROM headway.checkpoint c WHERE c.job = finish.job;
      UPDATE headway.queue q SET failures = 0 WHERE q.name = queue AND q.failure_limit IS NOT NULL AND q.failures > 0;
      IF flags & 4 <> 0 THEN
        PERFORM headway.meet(ARRAY[finish.job], ARRAY[true], \(JobGraph.maxMetCount), moment);
      END IF;
      RETURN QUERY SELECT finish.job;
    END
    $body$
    """

  /// Sends a signal in a transaction of any client, and returns whether the job is unfinished.
  ///
  /// The function makes the same changes as `JobRows.send`, under the lock of the job's row.
  private static let signal = """
    CREATE FUNCTION headway.signal(job bigint, name text, value bytea DEFAULT 'true') RETURNS boolean
    LANGUAGE plpgsql AS $body$
    #variable_conflict use_column
    DECLARE
      signals jsonb;
      number bigint;
      stored record;
    BEGIN
      IF octet_length(signal.name) > 512 THEN
        RAISE EXCEPTION 'The name of a signal has % bytes instead of at most 512.', octet_length(signal.name)
        USING ERRCODE = 'invalid_parameter_value';
      END IF;
      SELECT j.state, j.queue, j.slots, j.awaits INTO stored FROM headway.job j WHERE j.id = signal.job FOR UPDATE;
      IF NOT FOUND THEN RETURN false; END IF;
      SELECT convert_from(c.value, 'UTF8')::jsonb INTO signals FROM headway.checkpoint c
      WHERE c.job = signal.job AND c.name = '\(StoredSignals.counts)';
      signals := coalesce(signals, '{"counts": {}}');
      IF (SELECT coalesce(sum((s.value->>'received')::bigint - (s.value->>'taken')::bigint), 0)
      FROM jsonb_each(signals->'counts') s) >= \(JobSignal.maxPendingCount) THEN
        RAISE EXCEPTION 'Job % has % signals that no wait has consumed.', signal.job, \(JobSignal.maxPendingCount)
        USING ERRCODE = 'program_limit_exceeded';
      END IF;
      number := coalesce((signals->'counts'->signal.name->>'received')::bigint, 0) + 1;
      signals := jsonb_set(signals, ARRAY['counts', signal.name], jsonb_build_object('received', number,
        'taken', coalesce((signals->'counts'->signal.name->>'taken')::bigint, 0)));
      INSERT INTO headway.checkpoint (job, name, value)
      VALUES (signal.job, '\(StoredSignals.prefix)signal ' || number || ' ' || signal.name, signal.value),
      (signal.job, '\(StoredSignals.counts)', convert_to(signals::text, 'UTF8'))
      ON CONFLICT (job, name) DO UPDATE SET value = excluded.value;
      UPDATE headway.job j SET flags = flags | 8 WHERE j.id = signal.job;
      IF stored.state = 1 AND stored.awaits = 'signal ' || signal.name THEN
        UPDATE headway.job j SET state = 2, due = NULL, awaits = NULL,
        position = CASE WHEN stored.slots = 0 THEN j.position ELSE nextval('headway.position') END,
        ready = CASE WHEN stored.slots = 0 THEN j.ready ELSE clock_timestamp() END WHERE j.id = signal.job;
        PERFORM headway.notify(stored.queue);
      END IF;
      RETURN true;
    END
    $body$
    """

  /// Writes and reads receipts, for roles that have no privilege for their table.
  ///
  /// Both require the random numbers of the receipt, so no role can find the receipts of other roles.
  private static let writeReceipt = """
    CREATE FUNCTION headway.write_receipt(number bigint, token bigint, ids bigint[], are_new boolean[]) RETURNS void
    LANGUAGE sql \(asOwner) AS $body$
    INSERT INTO headway.receipt (number, token, ids, are_new, stored) VALUES ($1, $2, $3, $4, clock_timestamp())
    ON CONFLICT (number) DO UPDATE SET token = excluded.token, ids = excluded.ids, are_new = excluded.are_new,
    stored = excluded.stored
    $body$
    """
  private static let readReceipt = """
    CREATE FUNCTION headway.read_receipt(number bigint, token bigint) RETURNS TABLE (ids bigint[], are_new boolean[])
    LANGUAGE sql STABLE \(asOwner) AS $body$
    SELECT r.ids, r.are_new FROM headway.receipt r WHERE r.number = $1 AND r.token = $2
    $body$
    """

  /// Adds a job in a transaction of any client.
  ///
  /// For a role that may only enqueue, it is the only way to add jobs.
  private static let enqueue = """
    CREATE FUNCTION headway.enqueue(
      kind text, payload bytea, queue text DEFAULT 'default', version bigint DEFAULT 1, priority bigint DEFAULT 0,
      delay interval DEFAULT NULL, start timestamptz DEFAULT NULL, deadline timestamptz DEFAULT NULL,
      unique_key text DEFAULT NULL, unique_scope text DEFAULT 'unfinished', unique_for interval DEFAULT NULL,
      settings bytea DEFAULT NULL, keep bigint DEFAULT 86400000000, limit_key text DEFAULT NULL,
      slots bigint DEFAULT NULL, needs_room boolean DEFAULT true, weight bigint DEFAULT 1, further text DEFAULT '-',
      OUT id bigint, OUT is_new boolean)
    LANGUAGE plpgsql \(asOwner) AS $body$
    #variable_conflict use_column
    DECLARE
      moment timestamptz := clock_timestamp();
      moment_due timestamptz := coalesce(moment + delay, start);
      full_at bigint;
      holds boolean := unique_key IS NOT NULL AND unique_for IS NULL;
      stored bytea := settings;
      holder bigint;
    BEGIN
      IF enqueue.kind = '' THEN
        RAISE EXCEPTION 'The kind of a job is empty.' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF unique_scope NOT IN ('unfinished', 'waiting') THEN
        RAISE EXCEPTION 'The scope of a unique key is % instead of unfinished or waiting.', unique_scope
        USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF slots < 0 THEN
        RAISE EXCEPTION 'The number of slots is negative: %.', slots USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF weight < 1 OR slots IS NOT NULL AND weight > greatest(slots, 1) THEN
        RAISE EXCEPTION 'A job with the weight % would never run.', weight USING ERRCODE = 'invalid_parameter_value';
      END IF;
      SELECT q.pending INTO full_at FROM headway.queue q WHERE q.name = enqueue.queue;
      IF full_at IS NOT NULL AND needs_room AND full_at <= headway.pending_count(enqueue.queue, full_at)
      AND NOT EXISTS (SELECT FROM headway.job j WHERE j.unique_key = enqueue.unique_key AND holds)
      AND NOT EXISTS (
        SELECT FROM headway.key k WHERE k.key = enqueue.unique_key AND NOT holds AND k.until > moment) THEN
        RAISE EXCEPTION 'The queue % is full: % or more jobs wait in it.', enqueue.queue, full_at
        USING ERRCODE = 'program_limit_exceeded';
      END IF;
      IF stored IS NULL AND holds THEN
        stored := convert_to(jsonb_build_object('unique', jsonb_build_object(
          'key', unique_key, 'conflict', jsonb_build_object('keep', '{}'::jsonb),
          'scope', jsonb_build_object(unique_scope, '{}'::jsonb)))::text, 'UTF8');
      END IF;
      IF moment_due <= moment THEN moment_due := NULL; END IF;
      LOOP
        enqueue.id := nextval('headway.job_number');
        is_new := true;
        IF unique_for IS NOT NULL THEN
          INSERT INTO headway.key AS k (key, job, until) VALUES (unique_key, enqueue.id, moment + unique_for)
          ON CONFLICT (key) DO UPDATE SET job = excluded.job, until = excluded.until WHERE k.until <= moment
          RETURNING k.job INTO holder;
          IF holder IS NULL THEN
            SELECT k.job INTO enqueue.id FROM headway.key k WHERE k.key = unique_key;
            is_new := false;
            RETURN;
          END IF;
        END IF;
        INSERT INTO headway.job (id, queue, kind, version, state, priority, position, due, deadline, enqueued, attempt,
        crashes, snoozes, epoch, flags, keep, unmet, settings, payload, ready, limit_key, slots, weight,
        further, unique_key)
        VALUES (enqueue.id, enqueue.queue, enqueue.kind, enqueue.version,
        CASE WHEN moment_due IS NULL THEN 2 ELSE 1 END, enqueue.priority, nextval('headway.position'), moment_due,
        enqueue.deadline, moment, 0, 0, 0, 0, CASE WHEN holds AND unique_scope = 'waiting' THEN 2 ELSE 0 END,
        CASE WHEN enqueue.limit_key IS NULL THEN least(enqueue.keep, 1000000000000000) END, 0, stored, enqueue.payload,
        moment, enqueue.limit_key, enqueue.slots,
        CASE WHEN enqueue.limit_key IS NOT NULL THEN coalesce(enqueue.weight, 1) END,
        CASE WHEN enqueue.limit_key IS NOT NULL THEN coalesce(enqueue.further, '-') END,
        CASE WHEN holds THEN enqueue.unique_key END)
        ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING;
        IF FOUND THEN RETURN; END IF;
        SELECT j.id INTO enqueue.id FROM headway.job j WHERE j.unique_key = enqueue.unique_key;
        is_new := false;
        IF FOUND THEN RETURN; END IF;
      END LOOP;
    END
    $body$
    """
}
#endif
