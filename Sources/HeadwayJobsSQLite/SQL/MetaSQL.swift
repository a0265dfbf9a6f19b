#if Jobs
/// Statements about the version of the tables, and the last assigned numbers.
enum MetaSQL {
  /// Whether there are tables.
  ///
  /// GRDB's functions are not used for this, because GRDB would cache that the table does not exist.
  static let hasTables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'headway_meta'"
  /// A number; by the primary key.
  static let find = "SELECT value FROM headway_meta WHERE name = ?1"
  /// Changes a number; by the primary key.
  static let set = "UPDATE headway_meta SET value = ?2 WHERE name = ?1"
}
#endif
