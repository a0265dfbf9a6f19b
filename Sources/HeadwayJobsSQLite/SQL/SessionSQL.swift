#if Jobs
/// The statements about connections, transactions, and the state that code of an application can leave behind.
enum SessionSQL {
  /// Begins a request in a transaction.
  static let beginRequest = "SAVEPOINT headway_request"
  /// Keeps the changes of a request.
  static let endRequest = "RELEASE headway_request"
  /// Undoes the changes of a request, which must be ended afterward.
  static let undoRequest = "ROLLBACK TO headway_request"

  /// Begins to read the state at one moment.
  static let beginReading = "BEGIN; SELECT 1 FROM sqlite_master LIMIT 1"
  /// Ends reading.
  static let endReading = "COMMIT"

  /// A setting of the connection.
  static func setting(_ name: String) -> String { "PRAGMA \(name)" }

  /// Changes a setting of the connection.
  static func set(_ name: String, to value: String) -> String { "PRAGMA \(name) = \(value)" }

  /// Whether strings are equal regardless of their case, which is a setting without a value.
  static let isCaseIgnored = "SELECT 'a' LIKE 'A'"
  /// The types and names of temporary objects, with dependent objects first.
  ///
  /// Tables that belong to a virtual table follow it, because they are deleted with it.
  static let temporaryObjects = """
    SELECT type, name FROM temp.sqlite_master WHERE name NOT GLOB 'sqlite_*'
    ORDER BY type = 'table', type = 'index', rootpage > 0, rowid DESC
    """
  /// The names of attached databases.
  static let attachedDatabases = "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp')"

  /// Deletes a temporary object.
  static func drop(_ type: String, _ name: String) -> String { "DROP \(type) IF EXISTS temp.\(name)" }

  /// Detaches a database.
  static func detach(_ name: String) -> String { "DETACH DATABASE \(name)" }
}
#endif
