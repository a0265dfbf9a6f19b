#if Compression
/// The table of contents of a zip archive.
///
/// See `Docs/decisions/0024-sources.md`.
package struct ZipArchive: Sendable {
  /// A file in an archive.
  package struct Entry: Sendable, Hashable {
    /// The path in the archive, with slashes.
    package let name: String
    /// The unpacked size in bytes, according to the archive's directory.
    package let size: Int
  }

  /// The files in the archive, as its directory orders them.
  ///
  /// Folders and links are omitted.
  package let entries: [Entry]

  /// The number of bytes that an archive may always expand to.
  private static let allowance = 64 << 20
  /// The maximum expansion factor of a larger archive.
  ///
  /// Feeds expand 5 to 20 times. Deflate can reach 1,032 times if all bytes are the same, and malicious archives reach
  /// that and more (<https://www.bamsoftware.com/hacks/zipbomb/>).
  private static let mostExpansion = 200

  /// Reads an archive's directory.
  ///
  /// - Parameter path: The path of the archive, a regular file.
  /// - Throws: ``LineReaderError`` with the code `fileNotFound`, `permissionDenied`, `inputOutputError`, `cannotOpen`,
  ///   `damaged`, `encrypted`, or `expandsTooFar`. The code is `unsafeName` if an entry leads out of the archive's
  ///   folder, or if two entries have the same name.
  package init(path: String) throws(LineReaderError) {
    let size = try FileSource(path: path).size ?? 0
    do { entries = try Self.entries(path, archiveSize: size) } catch { throw error.error(path: path) }
  }

  private static func entries(_ path: String, archiveSize: Int) throws(UnpackingProblem) -> [Entry] {
    let reader = try ZipReader(path: path)
    var entries: [Entry] = []
    var names: Set<String> = []
    var total = 0
    while let entry = try reader.next() {
      guard isSafe(entry.name), !entry.isFile || names.insert(entry.name).inserted else {
        throw .unsafeName(entry.name)
      }
      guard entry.isFile else { continue }
      guard !entry.isEncrypted else { throw .encrypted }
      // The directory can contain any sizes.
      let (sum, isTooMuch) = total.addingReportingOverflow(entry.size)
      guard entry.size >= 0 else { throw .damaged }
      guard !isTooMuch, isBounded(sum, archiveSize: archiveSize) else { throw .expandsTooFar }
      total = sum
      entries.append(Entry(name: entry.name, size: entry.size))
    }
    return entries
  }

  /// Returns whether a name leads to a file inside the archive's folder.
  private static func isSafe(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix("/") && !name.utf8.contains(0)
      && !name.split(separator: "/").contains { $0 == ".." }
  }

  static func isBounded(_ size: Int, archiveSize: Int) -> Bool {
    size <= max(allowance, archiveSize.multipliedReportingOverflow(by: mostExpansion).partialValue)
  }
}
#endif
