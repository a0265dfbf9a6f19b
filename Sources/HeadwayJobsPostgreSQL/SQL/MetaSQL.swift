#if PostgreSQL
/// Statements about the database, the schema and the version of the tables.
enum MetaSQL {
  /// The encoding of the database.
  static let encoding = "SELECT current_setting('server_encoding')"
  /// Whether there is a schema.
  static let hasSchema = "SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1"
  /// Whether a schema has tables.
  ///
  /// The function `to_regclass` is not used, because it can miss a table that another process has just created.
  static let hasTables = """
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = 'meta'
    """
  /// The version of the tables; by the primary key.
  static let version = "SELECT value FROM headway.meta WHERE name = 'schema'"
  /// Changes the version of the tables; by the primary key.
  static let setVersion = "UPDATE headway.meta SET value = $1 WHERE name = 'schema'"
}
#endif
