#if Jobs
package import GRDB
internal import GRDBSQLite

/// Copies the write-ahead log into the database of a store, only at moments when this can't lose a commit.
///
/// SQLite 3.7.0 to 3.51.2 has the WAL-reset bug. A checkpoint reads the length of the log. If the whole log was already
/// copied, another connection can commit at this moment, and thereby reset the log. The checkpoint then treats frames
/// as copied that it has never read, and their commits are lost.
///
/// No connection can reset a log while it contains a frame that has not been copied. Therefore, the store starts a
/// checkpoint only directly after its own commit. It holds `writer.lock` from before the commit until after the
/// checkpoint, so that no other store copies the new frames in between:
///
///     flock(writer.lock)
///     checkpoint.lockAcquired()
///     BEGIN IMMEDIATE … COMMIT
///     checkpoint.afterCommit()
///     unlock
///
/// Other connections can commit at any time. If one of them also runs checkpoints, the store's own checkpoints are safe
/// only with a witness. `Docs/decisions/0039-checkpoints-of-the-job-store.md` contains the proof, and lists what other
/// connections must not do.
///
/// - Note: Call all members on the thread or queue that uses the writer.
package final class Checkpoint: @unchecked Sendable {  // All calls, and the hook, run on the writer's thread.
  /// The result of ``afterCommit()``.
  package enum Outcome: Equatable {
    /// The commit added nothing to the log, or the log is shorter than the threshold.
    case notDue
    /// The log has `frames` frames, and `copied` of them have been copied. The remaining frames were not copied,
    /// because of readers or because they were added during the checkpoint. A later checkpoint copies them.
    case done(frames: Int32, copied: Int32)
    /// SQLite returned an error, for example `SQLITE_BUSY` while another connection runs a checkpoint. This does not
    /// affect the commit, and a later checkpoint copies its frames.
    case failed(code: Int32)
  }

  /// Whether the linked library has the fix for the WAL-reset bug.
  package static var libraryHasFix: Bool { hasFix(version: sqlite3_libversion_number()) }

  private let writer: OpaquePointer
  private let witness: OpaquePointer?
  private let threshold: Int32
  /// The number of frames in the log after the last counted commit that added frames, or 0.
  ///
  /// It is allocated separately, because the hook uses its address.
  private let frames: UnsafeMutablePointer<Int32>

  /// Replaces the automatic checkpoints of the writer.
  ///
  /// - Parameters:
  ///   - writer: The connection that commits. It must be open until ``stop()`` has been called.
  ///   - witness: Another connection to the same database, which nothing else uses. It is in a read transaction while a
  ///     checkpoint runs. The checkpoint is then safe even if connections that don't hold `writer.lock` also run
  ///     checkpoints. It is not needed if the library has the fix.
  ///   - threshold: The minimum number of frames for copying the log. A frame contains a page.
  package init(writer: OpaquePointer, witness: OpaquePointer? = nil, threshold: Int32 = 8_000) {
    self.writer = writer
    self.witness = witness
    self.threshold = threshold
    frames = .allocate(capacity: 1)
    frames.initialize(to: 0)
    installHook()
  }

  /// Prepares for the next commit; call it when `writer.lock` has been acquired, before the transaction begins.
  ///
  /// It discards the count of earlier commits, for example of user transactions, because another store might have
  /// copied their frames. It also installs the hook again, because a connection has only one hook, and
  /// `PRAGMA wal_autocheckpoint` replaces it.
  package func lockAcquired() {
    installHook()
    frames.pointee = 0
  }

  /// Copies the log if it is long enough; call it after the commit, before `writer.lock` is released.
  ///
  /// It waits for neither readers nor writers, and they don't wait for it.
  package func afterCommit() -> Outcome {
    let length = frames.pointee
    frames.pointee = 0
    guard length > 0, length >= threshold else { return .notDue }
    guard let witness else { return copy() }

    // If a frame has not been copied, the transaction prevents a reset of the log. Otherwise, it prevents copying.
    let code = sqlite3_exec(witness, SessionSQL.beginReading, nil, nil, nil)
    defer { if sqlite3_get_autocommit(witness) == 0 { sqlite3_exec(witness, SessionSQL.endReading, nil, nil, nil) } }
    return code == SQLITE_OK ? copy() : .failed(code: code)
  }

  /// Removes the hook; call it last.
  ///
  /// If the library lacks the fix, the writer has no automatic checkpoints afterward.
  package func stop() {
    // The connection of an application runs automatic checkpoints again, if that can't lose commits.
    sqlite3_wal_autocheckpoint(writer, Self.libraryHasFix ? Self.defaultThreshold : 0)
    frames.deallocate()
  }

  /// SQLite's default for automatic checkpoints, in frames.
  private static let defaultThreshold: Int32 = 1_000

  /// Installs the hook that counts the frames and replaces automatic checkpoints.
  func installHook() {
    sqlite3_wal_hook(
      writer,
      { context, _, database, frames in
        if sqlite3_stricmp(database, "main") == 0 { context?.assumingMemoryBound(to: Int32.self).pointee = frames }
        return SQLITE_OK
      }, frames)
  }

  private func copy() -> Outcome {
    var frames: Int32 = -1
    var copied: Int32 = -1
    let code = sqlite3_wal_checkpoint_v2(writer, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &copied)
    return code == SQLITE_OK ? .done(frames: frames, copied: copied) : .failed(code: code)
  }
}

extension Checkpoint {
  /// Returns whether a version of SQLite has the fix for the WAL-reset bug.
  ///
  /// The fix is in 3.51.3 and later and was backported to 3.50.7 and 3.44.6. If a distribution has backported it to
  /// another version, this is not detected.
  ///
  /// - Parameter version: The result of `sqlite3_libversion_number()`, for example 3040001 for 3.40.1.
  /// - Returns: Whether a checkpoint can't lose a commit.
  package static func hasFix(version: Int32) -> Bool {
    version >= 3_051_003 || (3_050_007..<3_051_000).contains(version) || (3_044_006..<3_045_000).contains(version)
  }

  /// Turns off the automatic checkpoints of all connections with this configuration, if the library lacks the fix.
  ///
  /// This is for other pools that use the store's database, in this process or another one.
  package static func prepare(_ configuration: inout Configuration) {
    guard !libraryHasFix else { return }
    configuration.prepareDatabase { database in
      if let connection = database.sqliteConnection { sqlite3_wal_autocheckpoint(connection, 0) }
    }
  }
}
#endif
