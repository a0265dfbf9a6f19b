#if Compression
import CArchive
import HeadwayFiles

/// Iterates over the entries of a zip archive with libarchive and unpacks the current one on request.
///
/// libarchive uses the archive's directory, which is at its end: entries that are skipped are not read.
final class ZipReader {
  /// An entry, as listed in the archive's directory.
  struct Entry {
    let name: String
    /// The unpacked size in bytes.
    let size: Int
    let isFile: Bool
    let isEncrypted: Bool
  }

  private let archive: OpaquePointer

  private static let blockSize = 128 << 10

  /// Opens an archive.
  ///
  /// - Parameter path: The path of the archive, a regular file.
  /// - Throws: ``UnpackingProblem``.
  init(path: String) throws(UnpackingProblem) {
    guard let archive = archive_read_new() else { fatalError("Out of memory: reading an archive.") }
    self.archive = archive
    archive_read_support_format_zip_seekable(archive)
    let result = path.withPathBytes { archive_read_open_filename(archive, $0, Self.blockSize) }
    guard result == ARCHIVE_OK else { throw .damaged }
  }

  deinit { archive_read_free(archive) }

  /// Returns the next entry.
  ///
  /// Nil at the end.
  ///
  /// - Throws: ``UnpackingProblem``.
  func next() throws(UnpackingProblem) -> Entry? {
    var entry: OpaquePointer?
    // In the C locale, libarchive can't return names that are not ASCII.
    let result = Platform.withUnicodeLocale { archive_read_next_header(archive, &entry) }
    guard result != ARCHIVE_EOF else { return nil }
    guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let entry, let name = archive_entry_pathname(entry) else {
      throw .damaged
    }
    return Entry(
      name: String(path: name), size: Int(archive_entry_size(entry)),
      // S_IFREG
      isFile: archive_entry_filetype(entry) == 0o100000,
      isEncrypted: archive_entry_is_data_encrypted(entry) != 0)
  }

  /// Unpacks the next bytes of the entry.
  ///
  /// - Returns: The number of bytes. Zero at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UnpackingProblem) -> Int {
    while true {
      let count = archive_read_data(archive, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard count == Int(ARCHIVE_RETRY) else { throw .damaged }
    }
  }
}
#endif
