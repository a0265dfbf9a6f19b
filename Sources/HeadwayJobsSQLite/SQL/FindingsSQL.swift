#if Jobs
/// The statements that check the condition of the database.
enum FindingsSQL {
  /// The mode of the journal, which must be `wal`.
  static let journalMode = "PRAGMA journal_mode"
  /// A small change that affects nothing; by the primary key.
  static let check = "INSERT OR REPLACE INTO headway_meta (name, value) VALUES ('checked', ?1)"
  /// A number that changes with each commit of another connection.
  static let dataVersion = "PRAGMA data_version"
}
#endif
