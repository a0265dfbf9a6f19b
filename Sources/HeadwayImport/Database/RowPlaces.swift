#if SQLite
import GRDB

/// Where the rows of an import go.
struct RowPlaces: Sendable {
  /// Whether rows of this import may be there already: then they are updated.
  var updates = false
  /// Whether the rows are added behind those of others, who may add more meanwhile.
  var appends = false
  /// In a table without a key, what is added to the number of a record; nil if SQLite numbers the rows.
  var offset: Int? = 0
  /// The number of the last row that was there, in a table without a key.
  var lastRowBefore = 0
  /// The append that is completed.
  var unfinished: UnfinishedAppend?
  /// What SQLite's data version was when the table was found empty, where it matters who has written its rows.
  var emptyAtDataVersion: Int?
  /// The table is a temporary one.
  var isTemporary = false
  /// The temporary table that keeps the file, the line and the record of each row, because triggers may refuse rows
  /// when they replace others.
  var originTable: String?
  /// How many files have rows there before.
  var fileNumber = 0
  /// Whether it is noted how far the import has come.
  var notesAdvance = false
}

extension Database {
  /// A number that changes when another connection commits.
  func dataVersion() throws -> Int { try Int.fetchOne(self, sql: "PRAGMA data_version") ?? 0 }
}
#endif
