import Headway
import HeadwayFiles
internal import HeadwayLines
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The destination of a writer's bytes.
///
/// A regular file is written under a temporary name in the same folder, and renamed when it is complete. An existing
/// file that is not regular, such as a pipe or a device, is written directly.
package final class OutputFile {
  package let path: String
  private let descriptor: Int32
  private let closesDescriptor: Bool
  /// The file's temporary name, and its final name.
  ///
  /// Nil if the file is written directly.
  private var move: (from: String, to: String)?
  private var isOpen = true

  private static let count = Atomic<Int>(0)

  /// Writes to a descriptor, which is not closed.
  init(descriptor: Int32, path: String) {
    (self.path, self.descriptor, closesDescriptor) = (path, descriptor, false)
  }

  /// Creates a file with a temporary name next to a path, or opens an existing file that is not regular.
  package init(path: String) throws(CSVWriterError) {
    self.path = path
    closesDescriptor = true
    guard !path.isEmpty, !path.utf8.contains(0) else { throw CSVWriterError(errorNumber: EINVAL, path: path) }
    var status = stat()
    let exists = path.withPathBytes { stat($0, &status) } == 0
    if exists {
      let kind = status.st_mode & S_IFMT
      if kind == S_IFDIR { throw CSVWriterError(errorNumber: EISDIR, path: path) }
      // If its folder allows it, a file without write permission could be replaced, but no user expects that.
      guard path.withPathBytes({ access($0, W_OK) }) == 0 else { throw CSVWriterError(errorNumber: errno, path: path) }
      if kind != S_IFREG {
        descriptor = openOutput(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw CSVWriterError(errorNumber: errno, path: path) }
        return
      }
    }
    let target = exists ? Self.resolved(path) : path
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    let temporary = "\(target).\(getpid())-\(number).part"
    descriptor = openOutput(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
    guard descriptor >= 0 else { throw CSVWriterError(errorNumber: errno, path: path) }
    if exists { _ = fchmod(descriptor, status.st_mode & 0o7777) }
    move = (temporary, target)
  }

  deinit { discard() }

  /// Resolves symbolic links in a path, so that the file is replaced and not the link.
  private static func resolved(_ path: String) -> String { FileSystem.resolved(path) ?? path }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(CSVWriterError) {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = writeOutput(descriptor, start, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw failure
      }
    }
  }

  /// Closes the file and gives it its final name.
  package func finish() throws(CSVWriterError) {
    guard isOpen, closesDescriptor else { return }
    // The new name must not reach stable storage before the content does.
    if move != nil, fsync(descriptor) != 0, errno != EINVAL { throw failure }
    isOpen = false
    // After EINTR, the descriptor is already closed on Linux, and the data was written before.
    guard closeOutput(descriptor) == 0 || errno == EINTR else { throw failure }
    guard let move else { return }
    let result = move.from.withPathBytes { from in move.to.withPathBytes { rename(from, $0) } }
    guard result == 0 else { throw failure }
    self.move = nil
  }

  /// Closes the file and removes it if it is not complete.
  func discard() {
    if isOpen, closesDescriptor { _ = closeOutput(descriptor) }
    isOpen = false
    if let move { _ = move.from.withPathBytes { unlink($0) } }
    move = nil
  }

  private var failure: CSVWriterError { CSVWriterError(errorNumber: errno, path: path) }
}

extension CSVWriterError {
  /// Creates an error for a failed system call.
  init(errorNumber: Int32, path: String) {
    let (code, context): (Code, String) =
      switch errorNumber {
      case ENOENT, ENOTDIR: (.folderNotFound, "The folder of the file does not exist.")
      case EISDIR: (.isDirectory, "This is a folder.")
      case EACCES, EPERM, EROFS: (.permissionDenied, "The file may not be written.")
      case ENOSPC, EDQUOT: (.diskFull, "There is no room for the file.")
      default: (.cannotWrite, "The file can't be written.")
      }
    self.init(code, path: path, context: context, systemErrorNumber: errorNumber)
  }

  /// Whether the sentence about the error already contains the system's reason.
  ///
  /// For other reasons with the same code, such as a read-only file system, it does not.
  var includesReason: Bool { [ENOENT, EISDIR, EACCES, EPERM].contains(systemErrorNumber) }
}

// Inside the class, the bare names refer to its own members.

private func openOutput(_ path: String, _ flags: Int32) -> Int32 { path.withPathBytes { open($0, flags, 0o666) } }

private func writeOutput(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  // Linux transfers at most 2 GiB minus one page per call; Darwin rejects more than 2 GiB - 1.
  write(descriptor, bytes, min(count, 1 << 30))
}

private func closeOutput(_ descriptor: Int32) -> Int32 { close(descriptor) }
