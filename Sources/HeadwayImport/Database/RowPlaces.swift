#if SQLite
import GRDB

/// The places in the table for the rows of an import.
struct RowPlaces: Sendable {
  /// Whether rows of this import might already exist.
  ///
  /// They are then updated.
  var updates = false
  /// Whether the rows are added after existing rows of other programs.
  ///
  /// These programs might add more rows during the import.
  var appends = false
  /// In a table without a key, the number that is added to the number of a record; nil if SQLite numbers the rows.
  var offset: Int? = 0
  /// The number of the last row that existed before the import, in a table without a key.
  var lastRowBefore = 0
  /// The append that this import completes.
  var unfinished: UnfinishedAppend?
  /// SQLite's data version when the table was found empty, if it matters which connection has written its rows.
  var emptyAtDataVersion: Int?
  /// Whether SQLite enforces foreign keys while rows are written.
  var enforcesReferences = false
  /// Whether the table is temporary.
  var isTemporary = false
  /// The temporary table that stores the file, the line and the record of each row, because triggers might reject rows
  /// when they replace existing rows.
  var originTable: String?
  /// The number of earlier files that have rows there.
  var fileNumber = 0
  /// Whether the history records the progress of the import.
  var notesAdvance = false
}

extension Database {
  /// A number that changes when another connection commits.
  func dataVersion() throws -> Int { try Int.fetchOne(self, sql: "PRAGMA data_version") ?? 0 }
}
#endif
