#if PostgreSQL
/// The statements that check the condition of the server.
enum FindingsSQL {
  /// The version of the server.
  static let version = "SELECT current_setting('server_version')"
  /// The settings that make commits durable but are off.
  static let unsafeSettings = """
    SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'
    """
  /// The number of connections, which is visible to all roles, and its limit.
  static let connections = """
    SELECT (SELECT sum(numbackends)::bigint FROM pg_stat_database), current_setting('max_connections')::bigint
    """
  /// The process, the program and the age in seconds of the oldest transaction.
  static let oldestTransaction = """
    SELECT pid::bigint, application_name, extract(epoch FROM clock_timestamp() - xact_start)::float8
    FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND datname = current_database()
    AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1
    """
  /// Whether the role can see the transactions of other roles, and the name of the role.
  static let visibility = "SELECT pg_has_role('pg_read_all_stats', 'USAGE'), current_user::text"
  /// The numbers of live and dead rows in the table of unfinished jobs.
  static let rows = "SELECT n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE relid = 'headway.job'::regclass"
  /// The name of the role, and whether it can run jobs.
  static let privileges = "SELECT current_user, has_table_privilege('headway.job', 'UPDATE')"

  /// Opens a connection.
  static let nothing = "SELECT 1"
  /// Writes to the log of the server, but to no table.
  static let message = "SELECT pg_logical_emit_message(true, 'headway-jobs', '')"
}
#endif
