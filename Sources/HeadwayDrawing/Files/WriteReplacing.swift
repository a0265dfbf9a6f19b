#if Drawing
import HeadwayFiles
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

private let fileCount = Atomic<Int>(0)

/// Writes a file without its final name and renames it once it is complete and on disk.
///
/// If writing fails, no temporary file remains, and an existing file of that name is kept. A link is replaced by the
/// file. On most Linux file systems, the file has no name at all until it is complete. Therefore a process that is
/// killed leaves nothing behind either.
///
/// - Parameters:
///   - path: The path of the file.
///   - bytes: The content of the file.
///   - modified: The modification date of the file; nil for now.
///   - isCancelled: Called before the file gets its name; return true to discard the file.
/// - Returns: Whether the file was written; false if `isCancelled` returned true.
/// - Throws: ``ImageFileError``, with the code `cannotWrite`.
@discardableResult
func writeReplacing(
  _ path: String, _ bytes: [UInt8], modified: timespec? = nil, isCancelled: () -> Bool = { false }
) throws(ImageFileError) -> Bool {
  guard !path.isEmpty, !path.utf8.contains(0) else {
    throw ImageFileError(.cannotWrite, path: path, systemErrorNumber: EINVAL)
  }
  // Otherwise, a device in a folder that the process can write to would be replaced, for every process.
  var status = stat()
  if path.withPathBytes({ stat($0, &status) }) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
    throw ImageFileError(.cannotWrite, path: path, detail: "it is not a regular file")
  }
  let number = fileCount.wrappingAdd(1, ordering: .relaxed).newValue
  let temporary = "\(path).\(getpid())-\(number).part"
  var descriptor = openUnnamed(inFolderOf: path)
  /// Whether the file has the temporary name.
  var isNamed = descriptor < 0
  if isNamed { descriptor = temporary.withPathBytes { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) } }
  guard descriptor >= 0 else { throw ImageFileError(.cannotWrite, path: path, systemErrorNumber: errno) }

  var isComplete = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
  if isComplete, let modified { _ = futimens(descriptor, [modified, modified]) }
  // The content must reach stable storage before the name does. Some file systems do not support `fsync`.
  if isComplete, fsync(descriptor) != 0, errno != EINVAL { isComplete = false }
  var error = errno
  if isComplete, isCancelled() {
    close(descriptor)
    if isNamed { remove(temporary) }
    return false
  }
  if isComplete, !isNamed {
    if give(descriptor, theName: path) {
      close(descriptor)
      return true
    }
    // Only renaming can replace an existing file.
    isNamed = errno == EEXIST && give(descriptor, theName: temporary)
    if !isNamed { (isComplete, error) = (false, errno) }
  }
  // After EINTR, the descriptor is closed on Linux, and the data was written before.
  if close(descriptor) != 0, errno != EINTR, isComplete { (isComplete, error) = (false, errno) }
  if isComplete, temporary.withPathBytes({ from in path.withPathBytes { rename(from, $0) } }) == 0 { return true }
  if isComplete { error = errno }
  if isNamed { remove(temporary) }
  throw ImageFileError(.cannotWrite, path: path, systemErrorNumber: error)
}

#if os(Linux)
/// Opens a file without a name, if the system supports it; otherwise returns a negative number.
private func openUnnamed(inFolderOf path: String) -> Int32 {
  // The value of `O_TMPFILE`, a macro that Swift does not import. It is the same on every architecture that Swift
  // supports.
  let unnamed = 0o20000000 | O_DIRECTORY
  let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
  let descriptor = folder.withPathBytes { open($0, O_WRONLY | unnamed | O_CLOEXEC, 0o666) }
  // `/proc` is needed to name the file; without it, an unnamed file is useless.
  if descriptor >= 0, access("/proc/self/fd/\(descriptor)", F_OK) != 0 {
    close(descriptor)
    return -1
  }
  return descriptor
}

private func give(_ descriptor: Int32, theName path: String) -> Bool {
  path.withPathBytes { linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW) } == 0
}
#else
private func openUnnamed(inFolderOf path: String) -> Int32 { -1 }

private func give(_ descriptor: Int32, theName path: String) -> Bool { false }
#endif

private func remove(_ path: String) { _ = path.withPathBytes { unlink($0) } }

private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  var rest = bytes
  while let start = rest.baseAddress, !rest.isEmpty {
    let count = write(descriptor, start, min(rest.count, 1 << 30))
    if count >= 0 {
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    } else if errno != EINTR {
      return false
    }
  }
  return true
}
#endif
