#if Compression
/// Unpacks one file from a zip archive.
///
/// Used only by the object that owns the file.
final class ZipEntryReader: Unpacker, @unchecked Sendable {
  /// The unpacked size of the file in bytes, according to the archive's directory.
  let size: Int
  private(set) var bytesRead = 0
  let countsCompressedBytes = false

  private let reader: ZipReader

  /// Finds a file in an archive.
  ///
  /// - Parameters:
  ///   - path: The path of the archive, followed by the file's name in it.
  ///   - archiveSize: The size of the archive in bytes.
  /// - Throws: ``UnpackingProblem``.
  init(_ path: ArchivePath, archiveSize: Int) throws(UnpackingProblem) {
    reader = try ZipReader(path: path.archive)
    while let entry = try reader.next() {
      guard entry.isFile, entry.name == path.entry else { continue }
      guard !entry.isEncrypted else { throw .encrypted }
      guard ZipArchive.isBounded(entry.size, archiveSize: archiveSize) else { throw .expandsTooFar }
      size = entry.size
      return
    }
    throw .notThere
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UnpackingProblem) -> Int {
    let count = try reader.read(into: buffer)
    bytesRead += count
    // The file has more bytes than the archive's directory specifies, and than were checked.
    guard bytesRead <= size else { throw .damaged }
    return count
  }
}
#endif
