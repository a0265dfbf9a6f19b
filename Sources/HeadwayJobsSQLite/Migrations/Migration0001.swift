#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Creates the tables.
///
/// Their names don't conflict with the names of an application's tables.
enum Migration0001 {
  static let migration = StoreMigration(
    1,
    """
    CREATE TABLE headway_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO headway_meta VALUES ('schema', 0), ('job', 0), ('position', 0), ('worker', 0), ('deleted', 0);
    -- Unfinished jobs. State: \(JobRow.unfinishedStates).
    -- Times are in microseconds since 1970. Flags: 1 cancel requested, 2 holds key until claimed, 4 has dependents,
    -- 8 has checkpoints. Unmet: how many dependencies a held job waits for. Slots: how many units of the first limit's
    -- key can be in use; 0 for a serial key, null for a rate. Weight: how many units or tokens the job takes. Further:
    -- the other limits, as JSON; '-' if the job has one limit. Awaits: the signal or sleep that a scheduled job waits
    -- for. Error: the group of the last failed attempt.
    CREATE TABLE headway_job (
      id INTEGER PRIMARY KEY, queue TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL,
      state INTEGER NOT NULL, priority INTEGER NOT NULL, position INTEGER NOT NULL, due INTEGER, deadline INTEGER,
      enqueued INTEGER NOT NULL, claimed INTEGER, first_claimed INTEGER, attempt INTEGER NOT NULL,
      crashes INTEGER NOT NULL, snoozes INTEGER NOT NULL, epoch INTEGER NOT NULL, owner INTEGER,
      flags INTEGER NOT NULL, keep INTEGER, unique_key TEXT, unmet INTEGER NOT NULL, progress REAL,
      progress_text TEXT, settings BLOB, history BLOB, payload BLOB NOT NULL, ready INTEGER NOT NULL,
      limit_key TEXT, slots INTEGER, weight INTEGER, further TEXT, awaits TEXT,
      error INTEGER) STRICT;
    CREATE INDEX headway_job_waiting ON headway_job(queue, kind, version, priority DESC, position, deadline)
      WHERE \(ClaimSQL.plain);
    CREATE INDEX headway_job_keyed
      ON headway_job(queue, kind, version, priority DESC, further, limit_key, position, deadline, slots, weight)
      WHERE \(ClaimSQL.keyed);
    CREATE INDEX headway_job_slots ON headway_job(limit_key, weight)
      WHERE \(JobState.running.condition) AND limit_key NOT NULL;
    CREATE INDEX headway_job_further ON headway_job(further) WHERE \(JobState.running.condition) AND further > '-';
    CREATE INDEX headway_job_serial ON headway_job(limit_key, position)
      WHERE slots = 0 AND \(JobCondition.hasSerialPlace);
    CREATE INDEX headway_job_unready ON headway_job(state, queue) WHERE \(JobCondition.isUnready);
    CREATE INDEX headway_job_retrying ON headway_job(state, id, queue, kind) WHERE \(JobState.retrying.condition);
    CREATE INDEX headway_job_suspect ON headway_job(queue, priority DESC, position) WHERE \(ClaimSQL.suspects);
    CREATE INDEX headway_job_due ON headway_job(due) WHERE \(JobCondition.waitsForTime);
    CREATE INDEX headway_job_deadline ON headway_job(deadline) WHERE deadline NOT NULL AND \(JobCondition.isChangeable);
    CREATE INDEX headway_job_error ON headway_job(error, state, id) WHERE error NOT NULL;
    CREATE INDEX headway_job_running ON headway_job(owner, queue) WHERE \(JobState.running.condition);
    CREATE UNIQUE INDEX headway_job_unique ON headway_job(unique_key) WHERE unique_key NOT NULL;
    -- Finished jobs. State: \(JobRow.finishedStates).
    CREATE TABLE headway_done (
      id INTEGER PRIMARY KEY, queue TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL,
      state INTEGER NOT NULL, priority INTEGER NOT NULL, position INTEGER NOT NULL, deadline INTEGER,
      enqueued INTEGER NOT NULL, claimed INTEGER, first_claimed INTEGER, attempt INTEGER NOT NULL,
      crashes INTEGER NOT NULL, snoozes INTEGER NOT NULL, epoch INTEGER NOT NULL, owner INTEGER, progress REAL,
      progress_text TEXT, settings BLOB, history BLOB, payload BLOB NOT NULL, ready INTEGER NOT NULL,
      finished INTEGER NOT NULL, expires INTEGER NOT NULL, reason TEXT, reason_text TEXT, result BLOB,
      culprit INTEGER, error INTEGER) STRICT;
    CREATE INDEX headway_done_expires ON headway_done(expires);
    CREATE INDEX headway_done_finished ON headway_done(finished);
    CREATE INDEX headway_done_unsuccessful ON headway_done(state, id, queue, kind, finished)
      WHERE \(JobCondition.isUnsuccessful);
    CREATE INDEX headway_done_culprit ON headway_done(culprit) WHERE culprit NOT NULL;
    CREATE INDEX headway_done_error ON headway_done(error, state, id) WHERE error NOT NULL;
    -- Dependencies, until the dependent is deleted. Status: 0 unmet, 1 met, 2 failed.
    CREATE TABLE headway_edge (
      dependency INTEGER NOT NULL, dependent INTEGER NOT NULL, success INTEGER NOT NULL, status INTEGER NOT NULL,
      PRIMARY KEY (dependency, dependent)) STRICT, WITHOUT ROWID;
    CREATE INDEX headway_edge_dependent ON headway_edge(dependent);
    CREATE INDEX headway_edge_unmet ON headway_edge(dependency, dependent, success) WHERE status = 0;
    -- Jobs that have ended and have unmet edges, which are settled when the store advances.
    CREATE TABLE headway_cascade (job INTEGER PRIMARY KEY, culprit INTEGER NOT NULL) STRICT;
    -- Keys that are held for a time. The others are in headway_job.
    CREATE TABLE headway_key (key TEXT PRIMARY KEY, job INTEGER NOT NULL, until INTEGER NOT NULL)
      STRICT, WITHOUT ROWID;
    CREATE INDEX headway_key_until ON headway_key(until);
    -- The values of steps. Names that begin with headway/ belong to signals and waits.
    CREATE TABLE headway_checkpoint (
      job INTEGER NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (job, name)) STRICT, WITHOUT ROWID;
    -- Queues that are paused or have settings.
    CREATE TABLE headway_queue (
      name TEXT PRIMARY KEY, paused INTEGER NOT NULL, slots INTEGER, pending INTEGER, failure_limit INTEGER,
      failures INTEGER NOT NULL, aging INTEGER) STRICT, WITHOUT ROWID;
    -- The key that was served last, and whether a job without a key is next. Heavy: jobs that units are kept for.
    -- Further: the group where the next claim begins, if one claim can't read the jobs of all groups.
    CREATE TABLE headway_turn (
      queue TEXT NOT NULL, priority INTEGER NOT NULL, key TEXT, plain_next INTEGER NOT NULL, heavy TEXT,
      further TEXT, PRIMARY KEY (queue, priority)) STRICT, WITHOUT ROWID;
    -- Token buckets that are not full: when they will be, and when a waiting job can have a token.
    CREATE TABLE headway_bucket (key TEXT PRIMARY KEY, full INTEGER NOT NULL, next INTEGER) STRICT, WITHOUT ROWID;
    CREATE INDEX headway_bucket_next ON headway_bucket(next) WHERE next NOT NULL;
    -- Schedules. All ticks up to the time in the column decided have been processed. Gaps: the periods in which they
    -- have added no jobs, as after/through, in microseconds since 1970.
    CREATE TABLE headway_schedule (
      name TEXT PRIMARY KEY, definition BLOB NOT NULL, anchor INTEGER NOT NULL, decided INTEGER NOT NULL,
      last_tick INTEGER, last_job INTEGER, paused INTEGER NOT NULL, next INTEGER, gaps TEXT NOT NULL)
      STRICT;
    CREATE INDEX headway_schedule_next ON headway_schedule(next) WHERE next NOT NULL;
    -- What transactions have done to jobs and has not been merged into the statistics. Waits and runs: distributions.
    CREATE TABLE headway_activity (
      id INTEGER PRIMARY KEY, counted INTEGER NOT NULL, queue TEXT NOT NULL, kind TEXT NOT NULL,
      enqueued INTEGER NOT NULL, restarted INTEGER NOT NULL, succeeded INTEGER NOT NULL, failed INTEGER NOT NULL,
      cancelled INTEGER NOT NULL, failed_attempts INTEGER NOT NULL, crashes INTEGER NOT NULL, waits BLOB, runs BLOB)
      STRICT;
    -- Statistics. Level: 0 minutes, 1 hours, 2 all time, whose queue and kind are *.
    CREATE TABLE headway_statistic (
      level INTEGER NOT NULL, start INTEGER NOT NULL, queue TEXT NOT NULL, kind TEXT NOT NULL,
      enqueued INTEGER NOT NULL, restarted INTEGER NOT NULL, succeeded INTEGER NOT NULL, failed INTEGER NOT NULL,
      cancelled INTEGER NOT NULL, failed_attempts INTEGER NOT NULL, crashes INTEGER NOT NULL, waits BLOB, runs BLOB,
      PRIMARY KEY (level, start, queue, kind)) STRICT, WITHOUT ROWID;
    -- Failed attempts with the same error: the kind of the jobs, the type of the error, and its text with placeholders.
    -- Note, author and muted: who has muted the group, when, and why.
    CREATE TABLE headway_error (
      id INTEGER PRIMARY KEY, kind TEXT NOT NULL, type TEXT NOT NULL, text TEXT NOT NULL, first_seen INTEGER NOT NULL,
      note TEXT, author TEXT, muted INTEGER) STRICT;
    CREATE INDEX headway_error_kind ON headway_error(kind);
    -- The number of failed attempts in each hour since 1970; -1 for the hours before the last 24. The place is 0.
    CREATE TABLE headway_error_count (
      error INTEGER NOT NULL, hour INTEGER NOT NULL, place INTEGER NOT NULL, count INTEGER NOT NULL,
      last_seen INTEGER NOT NULL, last_job INTEGER NOT NULL, PRIMARY KEY (error, hour, place)) STRICT, WITHOUT ROWID;
    -- Changes by people. The number of a deleted record is not used again. Job: the job if the change selected one
    -- alone; otherwise 0. Token: a random number that the transactions of a change share. Record: JSON.
    CREATE TABLE headway_change (
      number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, author TEXT NOT NULL, job INTEGER NOT NULL,
      token INTEGER NOT NULL, record BLOB NOT NULL) STRICT;
    CREATE UNIQUE INDEX headway_change_token ON headway_change(token);
    CREATE INDEX headway_change_job ON headway_change(job, number) WHERE job > 0;
    CREATE INDEX headway_change_time ON headway_change(time);
    CREATE TABLE headway_worker (
      id INTEGER PRIMARY KEY, started INTEGER NOT NULL, stopped INTEGER NOT NULL DEFAULT 0, info BLOB NOT NULL)
      STRICT;
    """)
}
#endif
