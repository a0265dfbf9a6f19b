#if Compression
import CArchive

/// Unpacks what is read of a compressed file that is not of gzip, by libarchive, in constant memory.
///
/// Used by the one that owns the file.
final class Decompressor: Unpacker, @unchecked Sendable {
  private let archive: OpaquePointer
  private let input: CompressedBytes
  /// Why reading the file has failed.
  private var failure: Platform.Failure?
  /// Nothing was compressed.
  private var isEmpty = false

  /// - Parameters:
  ///   - head: What has been read of the file.
  ///   - descriptor: The file, which is not closed.
  /// - Throws: ``UnpackingProblem``.
  init(head: [UInt8], descriptor: Int32) throws(UnpackingProblem) {
    guard let archive = archive_read_new() else { fatalError("Out of memory: unpacking a file.") }
    self.archive = archive
    input = CompressedBytes(head: head, descriptor: descriptor)
    archive_read_support_filter_all(archive)
    archive_read_support_format_raw(archive)
    // One without content has no entry, which is no failure here.
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
    // Without a filter beside that for the file itself, it is not what it seemed to be.
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

  /// Hands libarchive bytes of the file, which stay until it asks again.
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
