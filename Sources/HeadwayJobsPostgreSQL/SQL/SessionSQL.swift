#if PostgreSQL
/// The statements about sessions and transactions.
enum SessionSQL {
  /// The process of the server, when it began, and whether the server is a standby.
  static let process = """
    SELECT pg_backend_pid(), (extract(epoch FROM backend_start) * 1000000)::bigint, pg_is_in_recovery()
    FROM pg_stat_activity WHERE pid = pg_backend_pid()
    """

  /// Sets the time limits and makes commits durable, whatever the defaults of the role are.
  ///
  /// Each execution has its own plan, because table sizes change quickly. If a prepared statement was planned while a
  /// queue was empty, its plan reads the whole table. Jobs are drained three times as fast without such plans.
  ///
  /// The parameters are the limits of locks and statements, whether the settings apply to a transaction, and the limit
  /// of idle transactions.
  static let settings = """
    SELECT set_config('lock_timeout', $1, $3), set_config('statement_timeout', $2, $3), set_config('jit', 'off', $3),
    set_config('default_transaction_read_only', 'off', $3),
    set_config('default_transaction_isolation', 'read committed', $3),
    set_config('idle_in_transaction_session_timeout', $4, $3),
    set_config('plan_cache_mode', 'force_custom_plan', $3),
    CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
    THEN set_config('synchronous_commit', 'on', $3) END
    """
  /// Sets the time limit of the next statements of a transaction.
  static let limitStatements = "SELECT set_config('statement_timeout', $1, true)"

  /// Sets the limit of the time that a transaction waits for this process.
  static let limitIdleTime = "SELECT set_config('idle_in_transaction_session_timeout', $1, true)"

  /// Sets the isolation of a transaction; before any query.
  static let readCommitted = "SET transaction_isolation = 'read committed'"
  /// Makes a transaction write; before any query.
  static let writing = "SET transaction_read_only = off"
  /// Begins a transaction that writes.
  static let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
  /// Begins a transaction that reads the state at one moment.
  static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
  /// Commits a transaction.
  static let commit = "COMMIT"
  /// Undoes a transaction.
  static let rollBack = "ROLLBACK"
  /// Begins changes that can be undone in a transaction of the application.
  static let beginChanges = "SAVEPOINT headway_changes"
  /// Keeps the changes.
  static let endChanges = "RELEASE headway_changes"
  /// Undoes the changes, which must be ended afterward.
  static let undoChanges = "ROLLBACK TO headway_changes"

  /// Whether the role can write to the tables.
  static let mayInsertJobs = "SELECT has_table_privilege('headway.job', 'INSERT')"

  /// The statements that reset the state of a session, except its prepared statements.
  static let resetting = [
    "SET SESSION AUTHORIZATION DEFAULT", "RESET ROLE", "RESET ALL", "UNLISTEN *", "CLOSE ALL", "DISCARD TEMP",
    "DISCARD SEQUENCES", "SELECT pg_catalog.pg_advisory_unlock_all()",
  ]
  /// The numbers of prepared statements of the application, and of this client.
  static let preparedCounts = """
    SELECT count(*) FILTER (WHERE from_sql), count(*) FILTER (WHERE NOT from_sql)
    FROM pg_catalog.pg_prepared_statements
    """
  /// Deallocates all prepared statements.
  static let deallocateAll = "DEALLOCATE ALL"
  /// Deallocates only the prepared statements of an application behind a pooler.
  static let deallocateForeign = """
    DO $$DECLARE statement text; BEGIN
    FOR statement IN SELECT name FROM pg_catalog.pg_prepared_statements WHERE from_sql
    LOOP EXECUTE pg_catalog.format('DEALLOCATE %I', statement); END LOOP; END$$
    """

  /// Deallocates a prepared statement.
  static func deallocate(_ name: String) -> String { "DEALLOCATE \(name)" }

  /// Notifies the listeners of a channel.
  static let notify = "SELECT pg_notify($1, $2)"

  /// Receives the notifications of a channel.
  static func listen(_ channel: String) -> String { "LISTEN \(channel)" }
}
#endif
