import Foundation
import HeadwayJobs

/// A lock that gives a process the exclusive right to use a folder.
///
/// The kernel releases the lock when the process ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  init(_ folder: String) throws {
    let path = "\(folder)/lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw JobError(.unusableStore, "\(path) can't be opened: \(String(cString: strerror(errno)))")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno == EWOULDBLOCK ? "another process uses the store" : String(cString: strerror(errno))
      throw JobError(.unusableStore, "\(path) can't be locked: \(reason)")
    }
  }

  deinit { close(descriptor) }

  func release() { flock(descriptor, LOCK_UN) }
}
