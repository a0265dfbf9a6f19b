#if PostgreSQL
/// The statements about roles and their privileges.
enum PrivilegeSQL {
  /// Returns a row if there is a role.
  static let role = "SELECT FROM pg_catalog.pg_roles WHERE rolname = $1"

  /// Creates a role without the right to log in.
  static func create(role: String) -> String { "CREATE ROLE \(role) NOLOGIN" }

  /// Grants privileges on objects.
  static func grant(_ privileges: [String], on objects: String, to role: String) -> String {
    "GRANT \(JobSQL.list(privileges)) ON \(objects) TO \(role)"
  }

  /// One of the privileges `$3` that the role `$1` does not have on the objects `$4` of the schema `$2`, and the
  /// object.
  static func missing(_ objects: String, check: String) -> String {
    """
    SELECT p, o.name::text FROM (\(objects)) o CROSS JOIN unnest($3) AS p
    WHERE o.space = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $2)
    AND (cardinality($4) = 0 OR o.name = ANY($4)) AND NOT \(check)($1::name, o.oid, p) LIMIT 1
    """
  }

  /// All schemas.
  static let schemas = "SELECT oid, nspname AS name, oid AS space FROM pg_catalog.pg_namespace"
  /// All functions.
  static let functions = "SELECT oid, proname AS name, pronamespace AS space FROM pg_catalog.pg_proc"

  /// All tables, sequences, and similar objects.
  static func relations(_ kinds: String) -> String {
    "SELECT oid, relname AS name, relnamespace AS space FROM pg_catalog.pg_class WHERE relkind IN (\(kinds))"
  }

  /// Calls a function of the schema with casts to the types of its parameters.
  static func call(
    _ function: String, columns: String, _ arguments: [(name: String, type: String, value: String?)]
  ) -> String {
    let list = arguments.enumerated().map { "\($1.name) => $\($0 + 1)::\($1.type)" }
    return "SELECT \(columns) FROM \(function)(\(JobSQL.list(list)))"
  }
}
#endif
