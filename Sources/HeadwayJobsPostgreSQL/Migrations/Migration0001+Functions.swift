#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

// The functions that are `SECURITY DEFINER` run with the privileges of the owner of the tables. No other role can
// create objects in the schemas of their search path.

extension Migration0001 {
  static let functions = """
    -- Counts the pending jobs of a queue up to a limit, in parts that each have an index.
    CREATE FUNCTION headway.pending_count(queue_name text, at_most bigint) RETURNS bigint LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    SELECT count(*) FROM (
      \(JobPart.pending.map {
        "(SELECT FROM headway.job WHERE \($0.condition) AND queue = queue_name LIMIT at_most)"
      }.joined(separator: " UNION ALL "))
      LIMIT at_most) pending
    $body$;
    -- Adds a job in a transaction of any client.
    --
    -- For a role that may only enqueue, it is the only way to add jobs.
    CREATE FUNCTION headway.enqueue(
      kind text, payload bytea, queue text DEFAULT 'default', version bigint DEFAULT 1, priority bigint DEFAULT 0,
      delay interval DEFAULT NULL, start timestamptz DEFAULT NULL, deadline timestamptz DEFAULT NULL,
      unique_key text DEFAULT NULL, unique_scope text DEFAULT 'unfinished', unique_for interval DEFAULT NULL,
      settings bytea DEFAULT NULL, keep bigint DEFAULT 86400000000, limit_key text DEFAULT NULL,
      slots bigint DEFAULT NULL, needs_room boolean DEFAULT true, weight bigint DEFAULT 1, further text DEFAULT '-',
      OUT id bigint, OUT is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
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
        CASE WHEN moment_due IS NULL THEN \(JobState.waiting.rawValue) ELSE \(JobState.scheduled.rawValue) END,
        enqueue.priority, nextval('headway.position'), moment_due, enqueue.deadline, moment, 0, 0, 0, 0,
        CASE WHEN holds AND unique_scope = 'waiting' THEN \(JobRow.holdsKeyUntilClaim) ELSE 0 END,
        CASE WHEN enqueue.limit_key IS NULL THEN least(enqueue.keep, 1000000000000000) END, 0, stored, enqueue.payload,
        moment, enqueue.limit_key, enqueue.slots,
        CASE WHEN enqueue.limit_key IS NOT NULL THEN coalesce(enqueue.weight, 1) END,
        CASE WHEN enqueue.limit_key IS NOT NULL THEN coalesce(enqueue.further, '-') END,
        CASE WHEN holds THEN enqueue.unique_key END)
        ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING;
        IF FOUND THEN
          INSERT INTO headway.activity (counted, queue, kind, enqueued)
          VALUES (moment, enqueue.queue, enqueue.kind, 1);
          RETURN;
        END IF;
        SELECT j.id INTO enqueue.id FROM headway.job j WHERE j.unique_key = enqueue.unique_key;
        is_new := false;
        IF FOUND THEN RETURN; END IF;
      END LOOP;
    END
    $body$;
    -- Sends a signal in a transaction of any client, and returns whether the job is unfinished.
    --
    -- The function makes the same changes as `JobRows.send`, under the lock of the job's row.
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
      UPDATE headway.job j SET flags = flags | \(JobRow.hasCheckpoints) WHERE j.id = signal.job;
      IF stored.\(JobState.scheduled.condition) AND stored.awaits = 'signal ' || signal.name THEN
        UPDATE headway.job j SET state = \(JobState.waiting.rawValue), due = NULL, awaits = NULL,
        position = CASE WHEN stored.slots = 0 THEN j.position ELSE nextval('headway.position') END,
        ready = CASE WHEN stored.slots = 0 THEN j.ready ELSE clock_timestamp() END WHERE j.id = signal.job;
        PERFORM headway.notify(stored.queue);
      END IF;
      RETURN true;
    END
    $body$;
    -- Notifies the workers of a queue, for clients that have added jobs.
    --
    -- The channel is that of `SchemaName`, and the message that of `HintGate`.
    CREATE FUNCTION headway.notify(queue text DEFAULT 'default') RETURNS void LANGUAGE sql AS $body$
    SELECT pg_notify(
      CASE nspname WHEN 'headway' THEN 'headway_jobs' ELSE 'headway_jobs_' || nspname END, chr(31) || 'q' || queue)
    FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE pg_class.oid = 'headway.job'::regclass
    $body$;
    -- Returns the distribution of one duration.
    --
    -- The bytes are those of `JobDurations.stored`: the number of the bucket in one or two bytes, and its count.
    CREATE FUNCTION headway.stored_duration(duration interval) RETURNS bytea LANGUAGE sql IMMUTABLE AS $body$
    SELECT CASE WHEN bucket < 128 THEN set_byte(decode('0001', 'hex'), 0, bucket)
    ELSE set_byte(set_byte(decode('000001', 'hex'), 0, (bucket & 127) | 128), 1, bucket >> 7) END
    FROM (
      SELECT (shift << 3) + (value >> shift)::integer AS bucket
      FROM (
        SELECT value, greatest(length(ltrim(value::bit(64)::text, '0')) - 4, 0) AS shift
        FROM (
          SELECT least(greatest((extract(epoch FROM $1) * 1000000)::bigint, 0), (1::bigint << 45) - 1) AS value
        ) exact) digits) found
    $body$;
    -- Settles the edges of jobs that have succeeded in a transaction of another client, up to a limit.
    CREATE FUNCTION headway.meet(ends bigint[], successes boolean[], edges bigint, moment timestamptz) RETURNS void
    LANGUAGE sql AS $body$
    \(GraphSQL.lockDependents);
    \(GraphSQL.meetEdges);
    INSERT INTO headway.cascade SELECT id, id FROM unnest($1) AS x(id)
    WHERE EXISTS (SELECT FROM headway.edge WHERE dependency = x.id AND status = 0) ON CONFLICT (job) DO NOTHING
    $body$;
    -- Records the success of an attempt in a transaction of any client.
    --
    -- A row that would not be kept remains for a minute, so that the worker of the attempt finds it. The plans are not
    -- kept, because the sizes of the tables change quickly.
    CREATE FUNCTION headway.finish(
      job bigint, attempt bigint, epoch bigint, owner bigint, result bytea DEFAULT NULL,
      keep interval DEFAULT interval '1 day') RETURNS TABLE (id bigint)
    LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $body$
    #variable_conflict use_column
    DECLARE
      moment timestamptz := clock_timestamp();
      flags smallint;
      queue text;
      kind text;
      claimed timestamptz;
    BEGIN
      SELECT j.flags, j.queue, j.kind, j.claimed INTO flags, queue, kind, claimed FROM headway.job j
      WHERE j.id = finish.job AND j.attempt = finish.attempt AND j.epoch = finish.epoch AND j.owner = finish.owner
      AND j.\(JobSQL.isRunning) FOR UPDATE;
      IF NOT FOUND THEN RETURN; END IF;
      WITH gone AS (DELETE FROM headway.job j WHERE j.id = finish.job RETURNING j.*)
      INSERT INTO headway.done (id, queue, kind, version, state, priority, position, deadline, enqueued, claimed,
      first_claimed, attempt, crashes, snoozes, epoch, owner, progress, progress_text, settings, history, payload,
      ready, finished, expires, result)
      SELECT id, queue, kind, version, \(JobState.succeeded.rawValue), priority, position, deadline, enqueued, claimed,
      first_claimed, attempt, crashes, snoozes, epoch, owner, progress, progress_text, settings, history, payload,
      ready, moment, moment + greatest(finish.keep, interval '1 minute'), finish.result FROM gone;
      INSERT INTO headway.activity (counted, queue, kind, succeeded, runs)
      VALUES (moment, queue, kind, 1, headway.stored_duration(moment - claimed));
      DELETE FROM headway.checkpoint c WHERE c.job = finish.job;
      UPDATE headway.queue q SET failures = 0 WHERE q.name = queue AND q.failure_limit IS NOT NULL AND q.failures > 0;
      IF flags & \(JobRow.hasDependents) <> 0 THEN
        PERFORM headway.meet(ARRAY[finish.job], ARRAY[true], \(JobGraph.maxMetCount), moment);
      END IF;
      RETURN QUERY SELECT finish.job;
    END
    $body$;
    -- Writes and reads receipts, for roles that have no privilege for their table.
    --
    -- Both require the random numbers of the receipt, so no role can find the receipts of other roles.
    CREATE FUNCTION headway.write_receipt(number bigint, token bigint, ids bigint[], are_new boolean[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    INSERT INTO headway.receipt (number, token, ids, are_new, stored) VALUES ($1, $2, $3, $4, clock_timestamp())
    ON CONFLICT (number) DO UPDATE SET token = excluded.token, ids = excluded.ids, are_new = excluded.are_new,
    stored = excluded.stored
    $body$;

    CREATE FUNCTION headway.read_receipt(number bigint, token bigint) RETURNS TABLE (ids bigint[], are_new boolean[])
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    SELECT r.ids, r.are_new FROM headway.receipt r WHERE r.number = $1 AND r.token = $2
    $body$;
    -- Not every role may call the functions that run as the owner of the tables.
    REVOKE EXECUTE ON FUNCTION headway.pending_count, headway.enqueue, headway.signal, headway.notify, headway.meet,
    headway.stored_duration, headway.finish, headway.write_receipt, headway.read_receipt FROM PUBLIC;
    """
}
#endif
