#if Compression
/// Unpacks one file of a zip archive.
///
/// Used by the one that owns the file.
final class ZipEntryReader: Unpacker, @unchecked Sendable {
  /// How many bytes the file has when it is unpacked, by the archive's directory.
  let size: Int
  private(set) var bytesRead = 0
  let countsCompressedBytes = false

  private let reader: ZipReader

  /// Finds a file in an archive.
  ///
  /// - Parameters:
  ///   - path: The archive and the file in it.
  ///   - archiveSize: The size of the archive.
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
    // More comes out of it than its archive says, and than was looked at.
    guard bytesRead <= size else { throw .damaged }
    return count
  }
}
#endif
