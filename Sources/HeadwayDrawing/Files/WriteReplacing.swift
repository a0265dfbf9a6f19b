#if Drawing
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  private let fileCount = Atomic<Int>(0)

  /// Writes a file beside its name, and gives it its name once it is complete and on the disk.
  ///
  /// Where that fails, nothing is left, and what has the name keeps it. A link is replaced by the file.
  ///
  /// - Throws: ``ImageFileError``, with the code `cannotWrite`.
  func writeReplacing(_ path: String, _ bytes: [UInt8]) throws(ImageFileError) {
    func failure() -> ImageFileError { ImageFileError(.cannotWrite, path: path, errorNumber: errno) }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw ImageFileError(.cannotWrite, path: path, errorNumber: EINVAL)
    }
    let number = fileCount.wrappingAdd(1, ordering: .relaxed).newValue
    let temporary = "\(path).\(getpid())-\(number).part"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure() }
    var isComplete = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    // The name must not come to stable storage before what it names does; some file systems can't say.
    if isComplete, fsync(descriptor) != 0, errno != EINVAL { isComplete = false }
    var error = errno
    // After EINTR the descriptor is gone on Linux, and the data was written before.
    if close(descriptor) != 0, errno != EINTR, isComplete { (isComplete, error) = (false, errno) }
    if isComplete, rename(temporary, path) == 0 { return }
    if isComplete { error = errno }
    unlink(temporary)
    throw ImageFileError(.cannotWrite, path: path, errorNumber: error)
  }

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
