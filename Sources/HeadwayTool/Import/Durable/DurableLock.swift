#if SQLite && Jobs
import Foundation
import HeadwayFiles
import HeadwayImport

/// The right of one process to run durable imports into a database, until it ends.
///
/// The kernel releases the lock when the process ends, no matter how.
final class DurableLock: Sendable {
  private let path: String
  private let descriptor: Int32

  /// Acquires the lock, before reading anything that another process might change.
  ///
  /// - Parameter database: The path of the database.
  /// - Throws: ``ImportError`` with the code `otherWriter` if another process has the lock, or `database` if the file
  ///   can't be created.
  init(besideDatabase database: String) throws(ImportError) {
    path = "\(database).import-lock"
    while true {
      let opened = path.withPathBytes { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o666) }
      guard opened >= 0 else {
        throw ImportError(
          .database, path: database, context: "The lock \(path) can't be created: \(String(cString: strerror(errno))).")
      }
      guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
        close(opened)
        throw ImportError(
          .otherWriter, path: database, context: "Another process is running a durable import into this database.")
      }
      // Another process might have removed the file between opening and locking it.
      var (locked, named) = (stat(), stat())
      let isNamed =
        fstat(opened, &locked) == 0 && path.withPathBytes { stat($0, &named) } == 0 && locked.st_ino == named.st_ino
        && locked.st_dev == named.st_dev
      guard !isNamed else {
        descriptor = opened
        return
      }
      close(opened)
    }
  }

  deinit { close(descriptor) }

  /// Removes the file when no work remains.
  func remove() { _ = path.withPathBytes { unlink($0) } }
}
#endif
