#if SQLite
import Foundation
import Headway
import HeadwayFiles
import Synchronization

/// A folder for temporary files that only this user can read and write.
struct PrivateFolder {
  let path: String

  /// The folders that exist, for an end of the process that skips the end of functions.
  private static let existing = Mutex<Set<String>>([])

  /// The folder could not be created.
  struct Failure: Error {
    let errorNumber: Int32
  }

  /// Creates a folder with a new name in the folder for temporary files.
  ///
  /// The name can't be predicted, and nothing exists under that name, so another user can't create the folder or a link
  /// in advance.
  init() throws(Failure) {
    var base = NSTemporaryDirectory()
    while base.count > 1, base.hasSuffix("/") { base.removeLast() }
    // The six letters at the end are replaced.
    let pattern = "\(base == "/" ? "" : base)/headway-" + String(repeating: "X", count: 6)
    var template = pattern.pathBytes + [0]
    // mkdtemp creates the folder with the permissions 0700.
    let isMade = template.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in text.baseAddress.map { mkdtemp($0) != nil } ?? false }
    }
    guard isMade else { throw Failure(errorNumber: errno) }
    let path = String(pathBytes: template.dropLast())
    self.path = path
    Self.existing.withLock { _ = $0.insert(path) }
  }

  /// Removes the folder with its content.
  func remove() {
    try? FileManager.default.removeItem(atPath: path)
    Self.existing.withLock { _ = $0.remove(path) }
  }

  /// Removes all folders.
  static func removeAll() {
    for path in existing.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }
}
#endif
