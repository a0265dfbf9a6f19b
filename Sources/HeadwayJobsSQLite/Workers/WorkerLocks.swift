#if Jobs
import FoundationEssentials
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The locks that show which workers of a store are alive.
///
/// A worker is alive as long as its file is locked. The kernel releases the lock when the process ends for any reason.
/// Therefore, clocks and process identifiers don't matter, and a worker whose process is suspended for a time is not
/// dead.
final class WorkerLocks: Sendable {
  private let folder: String
  private let held = Mutex<[WorkerID: LockFile]>([:])

  /// The maximum number of files that one transaction deletes.
  private static let maxDeletedCount = 100

  init(folder: String) { self.folder = folder }

  private func path(of worker: WorkerID) -> String { "\(folder)/\(worker).lock" }

  /// Locks the file of a new worker, whose row is not visible to others yet.
  func lock(_ worker: WorkerID) throws -> LockFile {
    let file = try LockFile(path(of: worker))
    guard try file.tryLock() else {
      throw JobError(
        .unusableStore,
        "\(file.path) is already locked. This database has replaced another one that was in use. "
          + "Stop all programs that use it.")
    }
    return file
  }

  /// Keeps the lock of a worker until the worker stops or the process ends.
  func keep(_ file: LockFile, of worker: WorkerID) { held.withLock { $0[worker] = file } }

  func holds(_ worker: WorkerID) -> Bool { held.withLock { $0[worker] != nil } }

  /// Releases the lock of a worker that was removed, and deletes its file.
  func release(_ worker: WorkerID) { held.withLock { $0.removeValue(forKey: worker) }?.unlinkFile() }

  /// Releases the lock and leaves the file, as if the process had been killed.
  ///
  /// Closing the file isn't enough: a process that this one has forked, and that hasn't executed its program yet, has
  /// the same open file.
  func abandon(_ worker: WorkerID) { held.withLock { $0.removeValue(forKey: worker) }?.unlock() }

  /// Deletes the files of processes that were killed between changing a worker's file and changing its row.
  ///
  /// Call it in a transaction that writes. Workers also create their files in such transactions, so no file belongs to
  /// a worker that is just being added.
  ///
  /// - Parameter workers: The workers that have a row.
  func deleteLeftovers(except workers: Set<WorkerID>) {
    var deletedCount = 0
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasSuffix(".lock") {
      guard let number = Int64(name.dropLast(5)), !workers.contains(WorkerID(rawValue: number)) else { continue }
      guard let file = try? LockFile("\(folder)/\(name)"), (try? file.tryLock()) == true else { continue }
      file.unlinkFile()
      deletedCount += 1
      // The next worker continues.
      if deletedCount == Self.maxDeletedCount { return }
    }
  }

  /// Returns whether a worker is alive, for snapshots.
  func isAlive(_ worker: WorkerID) -> Bool { holds(worker) || LockFile.isLocked(path(of: worker)) }

  /// Returns the lock of a worker if the worker is dead.
  ///
  /// While the caller holds the lock, no other process finds the dead worker.
  func lockIfDead(_ worker: WorkerID) throws -> LockFile? {
    if holds(worker) { return nil }
    let file = try LockFile(path(of: worker))
    return try file.tryLock() ? file : nil
  }
}
#endif
