#if Compression
import CArchive

/// Unpacks a compressed file in any format except gzip while the file is read, with libarchive, in constant memory.
///
/// Used only by the object that owns the file.
final class Decompressor: Unpacker, @unchecked Sendable {
  private let archive: OpaquePointer
  private let input: CompressedBytes
  /// The reason why reading the file failed.
  private var failure: Platform.Failure?
  /// Whether the unpacked content is empty.
  private var isEmpty = false

  /// - Parameter input: The bytes of the file.
  /// - Throws: ``UnpackingProblem``.
  init(_ input: CompressedBytes) throws(UnpackingProblem) {
    guard let archive = archive_read_new() else { fatalError("Out of memory: unpacking a file.") }
    self.archive = archive
    self.input = input
    archive_read_support_filter_all(archive)
    archive_read_support_format_raw(archive)
    // A file without content has no entry, which is not a failure here.
    archive_read_support_format_empty(archive)
    let client = Unmanaged.passUnretained(self).toOpaque()
    let isOpen =
      archive_read_open(
        archive, client, nil,
        { _, client, bytes in
          Unmanaged<Decompressor>.fromOpaque(client!).takeUnretainedValue().fill(bytes!)
        }, nil) == ARCHIVE_OK
    var entry: OpaquePointer?
    let result = isOpen ? archive_read_next_header(archive, &entry) : ARCHIVE_FATAL
    isEmpty = result == ARCHIVE_EOF
    // If there is no filter other than the one for the file itself, the file is not in the format that its first bytes
    // suggested.
    guard [ARCHIVE_OK, ARCHIVE_WARN, ARCHIVE_EOF].contains(result), archive_filter_count(archive) > 1 else {
      throw problem
    }
  }

  deinit { archive_read_free(archive) }

  let countsCompressedBytes = true

  var bytesRead: Int { input.bytesRead }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UnpackingProblem) -> Int {
    guard !isEmpty else { return 0 }
    while true {
      let count = archive_read_data(archive, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard count == Int(ARCHIVE_RETRY) else { throw problem }
    }
  }

  private var problem: UnpackingProblem { failure.map { .unreadable($0) } ?? .damaged }

  /// Passes bytes of the file to libarchive.
  ///
  /// They stay valid until libarchive requests more.
  private func fill(_ bytes: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
    do {
      let next = try input.next()
      bytes.pointee = UnsafeRawPointer(next.baseAddress)
      return next.count
    } catch {
      failure = error
      return -1
    }
  }
}
#endif
