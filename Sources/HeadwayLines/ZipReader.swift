#if Compression
import CArchive
import Headway

/// Goes through the entries of a zip archive, by libarchive, and unpacks one where it stops.
///
/// The archive is read by its directory, which is at its end: what is passed over is not read.
final class ZipReader {
  /// An entry, as the archive's directory has it.
  struct Entry {
    let name: String
    /// How many bytes it has when it is unpacked.
    let size: Int
    let isFile: Bool
    let isEncrypted: Bool
  }

  private let archive: OpaquePointer

  private static let blockSize = 128 << 10

  /// Opens an archive.
  ///
  /// - Parameter path: The archive, a regular file.
  /// - Throws: ``UnpackingProblem``.
  init(path: String) throws(UnpackingProblem) {
    guard let archive = archive_read_new() else { fatalError("Out of memory: reading an archive.") }
    self.archive = archive
    archive_read_support_format_zip_seekable(archive)
    let result = path.withPathBytes { archive_read_open_filename(archive, $0, Self.blockSize) }
    guard result == ARCHIVE_OK else { throw .damaged }
  }

  deinit { archive_read_free(archive) }

  /// The next entry; nil at the end.
  ///
  /// - Throws: ``UnpackingProblem``.
  func next() throws(UnpackingProblem) -> Entry? {
    var entry: OpaquePointer?
    // In the C locale libarchive can't give names beyond ASCII.
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

  /// Unpacks what comes next in the entry.
  ///
  /// - Returns: How many bytes; zero at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UnpackingProblem) -> Int {
    while true {
      let count = archive_read_data(archive, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard count == Int(ARCHIVE_RETRY) else { throw .damaged }
    }
  }
}
#endif
