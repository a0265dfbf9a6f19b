#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Creates the tables, and the functions for other clients.
///
/// The tables have the same columns as the tables of `SQLiteJobStore`.
enum Migration0001 {
  static let migration = StoreMigration(1, "\(tables)\n\(functions)")

  private static let tables = """
    CREATE TABLE headway.meta (name text PRIMARY KEY, value bigint NOT NULL);
    INSERT INTO headway.meta VALUES ('schema', 0);
    CREATE SEQUENCE headway.job_number;
    CREATE SEQUENCE headway.position;
    -- Unfinished jobs. Flags: 1 cancel requested, 2 holds key until claimed, 4 has dependents, 8 has checkpoints. Keep:
    -- microseconds. Unmet: how many dependencies a held job waits for. Slots: how many units of the first limit's key
    -- can be in use; 0 for a serial key, null for a rate. Weight: how many units or tokens the job takes. Further: the
    -- other limits, as JSON; '-' if the job has one limit. Awaits: the signal or sleep that a scheduled job waits for.
    -- Error: the group of the last failed attempt.
    -- An index row has at most 2,704 bytes, so a job with longer names could not change its state.
    CREATE TABLE headway.job (
      id bigint PRIMARY KEY, queue text NOT NULL, kind text NOT NULL, version bigint NOT NULL, state smallint NOT NULL,
      priority bigint NOT NULL, position bigint NOT NULL, due timestamptz, deadline timestamptz,
      enqueued timestamptz NOT NULL, claimed timestamptz, first_claimed timestamptz, attempt integer NOT NULL,
      crashes integer NOT NULL, snoozes integer NOT NULL, epoch integer NOT NULL, owner bigint, flags smallint NOT NULL,
      keep bigint, unique_key text, unmet integer NOT NULL, progress double precision, progress_text text,
      settings bytea, history bytea, payload bytea NOT NULL, ready timestamptz NOT NULL, limit_key text COLLATE "C",
      slots bigint, weight bigint, further text COLLATE "C", awaits text, error bigint,
      CONSTRAINT job_has_short_names CHECK (octet_length(queue) <= 512 AND octet_length(kind) <= 512
        AND octet_length(unique_key) <= 1024 AND octet_length(limit_key) <= 1033
        AND octet_length(further) <= 1024))
    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
      autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.02);
    CREATE INDEX job_waiting ON headway.job (queue, priority DESC, position) WHERE \(ClaimSQL.plain);
    CREATE INDEX job_keyed ON headway.job (queue, priority DESC, further, limit_key, position)
    WHERE \(ClaimSQL.keyed);
    CREATE INDEX job_suspect ON headway.job (queue, priority DESC, position) WHERE \(ClaimSQL.suspects);
    CREATE INDEX job_slots ON headway.job (limit_key) INCLUDE (weight)
    WHERE \(JobState.running.condition) AND limit_key IS NOT NULL;
    CREATE INDEX job_further ON headway.job (further) WHERE \(JobState.running.condition) AND further > '-';
    CREATE INDEX job_serial ON headway.job (limit_key, position)
    WHERE slots = 0 AND \(JobCondition.hasSerialPlace);
    CREATE INDEX job_unready ON headway.job (state, queue) WHERE \(JobCondition.isUnready);
    CREATE INDEX job_retrying ON headway.job (state, id) WHERE \(JobState.retrying.condition);
    CREATE INDEX job_due ON headway.job (due) WHERE \(JobCondition.waitsForTime);
    CREATE INDEX job_deadline ON headway.job (deadline) WHERE deadline IS NOT NULL AND \(JobCondition.isChangeable);
    CREATE INDEX job_error ON headway.job (error, state, id) WHERE error IS NOT NULL;
    CREATE INDEX job_running ON headway.job (owner) WHERE \(JobState.running.condition);
    CREATE UNIQUE INDEX job_unique ON headway.job (unique_key) WHERE unique_key IS NOT NULL;
    -- Finished jobs.
    CREATE TABLE headway.done (
      id bigint PRIMARY KEY, queue text NOT NULL, kind text NOT NULL, version bigint NOT NULL, state smallint NOT NULL,
      priority bigint NOT NULL, position bigint NOT NULL, deadline timestamptz, enqueued timestamptz NOT NULL,
      claimed timestamptz, first_claimed timestamptz, attempt integer NOT NULL, crashes integer NOT NULL,
      snoozes integer NOT NULL, epoch integer NOT NULL, owner bigint, progress double precision, progress_text text,
      settings bytea, history bytea, payload bytea NOT NULL, ready timestamptz NOT NULL, finished timestamptz NOT NULL,
      expires timestamptz NOT NULL, reason text, reason_text text, result bytea, culprit bigint,
      error bigint);
    COMMENT ON COLUMN headway.job.state IS '\(JobRow.unfinishedStates)';
    COMMENT ON COLUMN headway.done.state IS '\(JobRow.finishedStates)';
    CREATE INDEX done_expires ON headway.done (expires);
    CREATE INDEX done_finished ON headway.done (finished);
    CREATE INDEX done_unsuccessful ON headway.done (state, id) WHERE \(JobCondition.isUnsuccessful);
    CREATE INDEX done_culprit ON headway.done (culprit) WHERE culprit IS NOT NULL;
    CREATE INDEX done_error ON headway.done (error, state, id) WHERE error IS NOT NULL;
    -- Dependencies, until the dependent is deleted. Status: 0 unmet, 1 met, 2 failed.
    CREATE TABLE headway.edge (
      dependency bigint, dependent bigint, success boolean NOT NULL, status smallint NOT NULL,
      PRIMARY KEY (dependency, dependent));
    CREATE INDEX edge_dependent ON headway.edge (dependent);
    CREATE INDEX edge_unmet ON headway.edge (dependency, dependent) WHERE status = 0;
    -- Jobs that have ended and have unmet edges, which are settled when the store advances.
    CREATE TABLE headway.cascade (job bigint PRIMARY KEY, culprit bigint NOT NULL);
    -- Keys that are held for a time. The others are in the table of jobs.
    CREATE TABLE headway.key (key text PRIMARY KEY, job bigint NOT NULL, until timestamptz NOT NULL);
    CREATE INDEX key_until ON headway.key (until);
    -- The values of steps. Names that begin with headway/ belong to signals and waits.
    CREATE TABLE headway.checkpoint (job bigint, name text, value bytea NOT NULL, PRIMARY KEY (job, name));
    -- Queues that are paused or have settings. Aging: microseconds.
    CREATE TABLE headway.queue (
      name text PRIMARY KEY, paused boolean NOT NULL, slots bigint, pending bigint, failure_limit bigint,
      failures bigint NOT NULL, aging bigint) WITH (fillfactor = 50);
    -- The key that was served last, and whether a job without a key is next. Heavy: jobs that units are kept for.
    -- Further: the group where the next claim begins, if one claim can't read the jobs of all groups.
    CREATE TABLE headway.turn (
      queue text, priority bigint, key text, plain_next boolean NOT NULL, heavy text, further text COLLATE "C",
      PRIMARY KEY (queue, priority))
    WITH (fillfactor = 50);
    -- Token buckets that are not full: when they will be, and when a waiting job can have a token.
    CREATE TABLE headway.bucket (key text PRIMARY KEY, fills timestamptz NOT NULL, next timestamptz)
    WITH (fillfactor = 50);
    CREATE INDEX bucket_next ON headway.bucket (next) WHERE next IS NOT NULL;
    -- Schedules. All ticks up to the time in the column decided have been processed. Gaps: the periods in which they
    -- have added no jobs, as after/through, in microseconds since 1970.
    CREATE TABLE headway.schedule (
      name text PRIMARY KEY, definition bytea NOT NULL, anchor timestamptz NOT NULL, decided timestamptz NOT NULL,
      last_tick timestamptz, last_job bigint, paused boolean NOT NULL, next timestamptz, gaps text NOT NULL);
    CREATE INDEX schedule_next ON headway.schedule (next) WHERE next IS NOT NULL;
    -- What transactions have done to jobs and has not been merged into the statistics. Rows are only added and deleted,
    -- so that transactions don't wait for each other. Waits and runs: distributions.
    CREATE TABLE headway.activity (
      counted timestamptz NOT NULL, queue text NOT NULL, kind text NOT NULL, enqueued bigint NOT NULL DEFAULT 0,
      restarted bigint NOT NULL DEFAULT 0, succeeded bigint NOT NULL DEFAULT 0, failed bigint NOT NULL DEFAULT 0,
      cancelled bigint NOT NULL DEFAULT 0, failed_attempts bigint NOT NULL DEFAULT 0,
      crashes bigint NOT NULL DEFAULT 0, waits bytea, runs bytea)
    WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
    CREATE INDEX activity_counted ON headway.activity (counted);
    -- Statistics. Level: 0 minutes, 1 hours, 2 all time, whose queue and kind are *.
    CREATE TABLE headway.statistic (
      level smallint, start timestamptz, queue text COLLATE "C", kind text COLLATE "C", enqueued bigint NOT NULL,
      restarted bigint NOT NULL, succeeded bigint NOT NULL, failed bigint NOT NULL, cancelled bigint NOT NULL,
      failed_attempts bigint NOT NULL, crashes bigint NOT NULL, waits bytea, runs bytea,
      PRIMARY KEY (level, start, queue, kind)) WITH (fillfactor = 70);
    -- Failed attempts with the same error: the kind of the jobs, the type of the error, and its text with placeholders.
    -- Note, author and muted: who has muted the group, when, and why.
    CREATE TABLE headway.error (
      id bigint PRIMARY KEY, kind text NOT NULL, type text NOT NULL, text text NOT NULL,
      first_seen timestamptz NOT NULL, note text, author text, muted timestamptz);
    CREATE INDEX error_kind ON headway.error (kind);
    -- The number of failed attempts in each hour since 1970; -1 for the hours before the last 24. Place: the
    -- connections that count in the row, so that few of them wait for each other; 0 for sums.
    CREATE TABLE headway.error_count (
      error bigint, hour bigint, place smallint, count bigint NOT NULL, last_seen timestamptz NOT NULL,
      last_job bigint NOT NULL, PRIMARY KEY (error, hour, place))
    WITH (fillfactor = 50);
    -- Changes by people. Job: the job if the change selected one alone; otherwise 0. Token: a random number that the
    -- transactions of a change share. Record: JSON.
    CREATE TABLE headway.change (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, time timestamptz NOT NULL, author text NOT NULL,
      job bigint NOT NULL, token bigint NOT NULL, record bytea NOT NULL);
    CREATE UNIQUE INDEX change_token ON headway.change (token);
    CREATE INDEX change_job ON headway.change (job, number) WHERE job > 0;
    CREATE INDEX change_time ON headway.change (time);
    -- Workers. Lease: when others rescue the jobs of the worker, by the server's clock.
    CREATE TABLE headway.worker (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, started timestamptz NOT NULL, lease timestamptz NOT NULL,
      stopped boolean NOT NULL DEFAULT false, info bytea NOT NULL) WITH (fillfactor = 50);
    -- Receipts of recent transactions that stored jobs. After a connection is lost, a row shows whether the
    -- transaction was committed.
    CREATE TABLE headway.receipt (
      number bigint PRIMARY KEY, token bigint NOT NULL, ids bigint[] NOT NULL, are_new boolean[] NOT NULL,
      stored timestamptz NOT NULL) WITH (fillfactor = 50);
    """
}
#endif
