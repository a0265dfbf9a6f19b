#if Jobs
import GRDB
internal import GRDBSQLite
@_spi(JobStore) import HeadwayJobs

extension Database {
  /// Checks that the path of the database still refers to the open file.
  ///
  /// A file that was deleted or moved can still be read and written as long as it is open, but other processes no
  /// longer use it. The check costs one call of `stat`.
  ///
  /// - Throws: `JobError` with the code `unusableStore`.
  func checkFile() throws {
    var isMoved: Int32 = 0
    let code = sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
    guard code == SQLITE_OK, isMoved != 0 else { return }
    throw JobError(
      .unusableStore,
      "The file of the store was deleted, moved, or replaced while it was open. Restore it if necessary, and restart "
        + "the program.")
  }
}
#endif
