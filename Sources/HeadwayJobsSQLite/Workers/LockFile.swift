#if Jobs
@_spi(JobStore) import HeadwayJobs

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// An open file with a kernel lock, which is released when the process ends, or earlier.
///
/// The lock belongs to the open file, not to the process, so two objects for one file exclude each other even in one
/// process. Programs that the process starts don't inherit the file.
final class LockFile: Sendable {
  let path: String
  private let descriptor: Int32

  /// Opens a file, or creates it.
  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw JobError(
        .unusableStore, "\(path) can't be opened: \(Self.errorText). The store needs a folder next to its database.")
    }
    self.path = path
  }

  deinit { close(descriptor) }

  private static let patience = Duration.seconds(10)
  private static let pause: UInt32 = 1_000

  /// Waits for the lock, on a thread that can be blocked.
  ///
  /// - Throws: `JobError` if another process does not release the lock for 10 s, for example because that process is
  ///   suspended.
  func lock() throws {
    let start = ContinuousClock.now
    while try !tryLock() {
      guard ContinuousClock.now - start < Self.patience else {
        throw JobError(
          .storeFailed, "Another process has held the lock \(path) for 10 s. Check whether it is suspended.")
      }
      usleep(Self.pause)
    }
  }

  /// Tries to acquire the lock.
  ///
  /// - Returns: Whether this object holds the lock now.
  func tryLock() throws -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw failure }
    }
    return true
  }

  func unlock() { flock(descriptor, LOCK_UN) }

  /// Deletes the file.
  ///
  /// The lock remains until the object is released.
  func unlinkFile() { unlink(path) }

  /// Returns whether another open file holds the lock.
  ///
  /// The function tries to acquire a shared lock, so that two processes that call it at the same time don't affect each
  /// other. A file that can't be opened, such as another user's file, counts as locked.
  static func isLocked(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno != ENOENT }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  private var failure: JobError {
    JobError(
      .unusableStore,
      "\(path) can't be locked: \(Self.errorText). Workers need locks to show that they are alive, so put the database "
        + "on a local file system.")
  }

  private static var errorText: String { String(cString: strerror(errno)) }

  /// Creates a folder for lock files, unless it exists.
  ///
  /// - Throws: `JobError` with the code `unusableStore`.
  static func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw JobError(
        .unusableStore,
        "The folder \(path) can't be created: \(errorText). The store needs it for the locks of its workers.")
    }
  }

  /// Proves that locks on the file system exclude each other.
  ///
  /// - Parameter path: The path of a file that no other process uses. It is created and deleted.
  /// - Throws: `JobError` with the code `unusableStore` if they do not.
  static func prove(at path: String) throws {
    let (first, second) = (try LockFile(path), try LockFile(path))
    defer { first.unlinkFile() }
    guard try first.tryLock(), try !second.tryLock() else {
      throw JobError(
        .unusableStore,
        "File locks have no effect at \(path), so the store can't determine which workers are alive. Put the "
          + "database on a local file system.")
    }
  }
}

extension LockFile {
  /// Returns the size of another file in bytes; 0 if there is no such file.
  static func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Returns the free blocks of a disk, and the size of a block in bytes; nil if they are unknown.
  static func freeBlocks(_ path: String) -> (count: UInt64, size: UInt64)? {
    var status = statvfs()
    return statvfs(path, &status) == 0 ? (UInt64(status.f_bavail), UInt64(status.f_frsize)) : nil
  }
}
#endif
