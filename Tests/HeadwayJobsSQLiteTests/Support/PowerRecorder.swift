#if Jobs
import CHeadwayJobsTestSupport
import Foundation
import GRDBSQLite
import HeadwayTestKit

/// The writes of this process's connections to a database and its log, and the content that would remain after a loss
/// of power.
final class PowerRecorder {
  /// The contents of a file: the synced bytes, and the later changes.
  private struct File {
    var synced: [UInt8] = []
    var changes: [headway_file_change] = []

    /// The content after a loss of power, if the function returns which unsynced parts of changes are on the disk.
    func left(_ isKept: () -> Bool) -> [UInt8] {
      var bytes = synced
      for change in changes { PowerRecorder.apply(change, to: &bytes, isKept) }
      return bytes
    }
  }

  private var database = File()
  private var log = File()
  private var position = 0

  /// Records the actions of connections that are opened from now on.
  init(_ path: String) throws {
    let code = headway_start_recording(path)
    guard code == SQLITE_OK else { throw Failure(code: code) }
  }

  deinit { headway_stop_recording() }

  /// The number of changes so far.
  static var count: Int { Int(headway_recorded_count()) }

  /// The positions directly before and after each sync.
  func syncPoints() -> [Int] {
    (0..<Self.count).filter { headway_recorded_change(Int32($0)).kind == Int32(headway_sync) }
      .flatMap { [$0, $0 + 1] }
  }

  /// Writes the database and the log that a loss of power leaves.
  ///
  /// - Parameters:
  ///   - position: The number of changes before the loss. It must not be smaller than in the last call.
  ///   - path: The path of the new database.
  ///   - isKept: Whether a sector of 512 bytes that was not synced is on the disk.
  /// - Throws: An error of the file system.
  func write(at position: Int, to path: String, isKept: () -> Bool) throws {
    while self.position < position {
      let change = headway_recorded_change(Int32(self.position))
      if change.is_log != 0 { Self.note(change, in: &log) } else { Self.note(change, in: &database) }
      self.position += 1
    }
    try Data(database.left(isKept)).write(to: URL(fileURLWithPath: path))
    try Data(log.left(isKept)).write(to: URL(fileURLWithPath: path + "-wal"))
  }

  private static func note(_ change: headway_file_change, in file: inout File) {
    guard change.kind == Int32(headway_sync) else { return file.changes.append(change) }
    for change in file.changes { apply(change, to: &file.synced) { true } }
    file.changes = []
  }

  private static func apply(_ change: headway_file_change, to bytes: inout [UInt8], _ isKept: () -> Bool) {
    let offset = Int(change.offset)
    guard change.kind == Int32(headway_write) else {
      guard isKept() else { return }
      if offset < bytes.count { bytes.removeLast(bytes.count - offset) }
      return
    }
    let sector = 512
    var start = 0
    while start < Int(change.count) {
      let end = min(Int(change.count), ((offset + start) / sector + 1) * sector - offset)
      if isKept() {
        if bytes.count < offset + end { bytes += [UInt8](repeating: 0, count: offset + end - bytes.count) }
        bytes.withUnsafeMutableBytes { bytes in
          let target = UnsafeMutableRawBufferPointer(rebasing: bytes[(offset + start)..<(offset + end)])
          target.copyMemory(from: UnsafeRawBufferPointer(start: change.bytes + start, count: end - start))
        }
      }
      start = end
    }
  }
}
#endif
