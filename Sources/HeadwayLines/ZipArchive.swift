#if Compression
/// What is in a zip archive.
package struct ZipArchive: Sendable {
  /// A file in an archive.
  package struct Entry: Sendable, Hashable {
    /// Its path in the archive, with slashes.
    package let name: String
    /// How many bytes it has when it is unpacked, by the archive's directory.
    package let size: Int
  }

  /// The files in the archive, by their place in it; folders and links are left out.
  package let entries: [Entry]

  /// How much may come out of an archive in any case.
  private static let allowance = 64 << 20
  /// How many times its size may come out of a larger one.
  ///
  /// Feeds come to 5 to 20 times; deflate can reach 1,032 times with bytes that are all the same, and archives made
  /// to do harm come to that and more (<https://www.bamsoftware.com/hacks/zipbomb/>).
  private static let mostExpansion = 200

  /// Reads an archive's directory.
  ///
  /// - Parameter path: The archive, a regular file.
  /// - Throws: ``LineReaderError`` with the code `fileNotFound`, `permissionDenied`, `inputOutput`, `cannotOpen`, or
  ///   `damaged`; `unsafeName`, if an entry leads out of the archive's folder or two have one name; `encrypted`;
  ///   `expandsTooFar`.
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
      // A directory may say what it likes.
      let (sum, isTooMuch) = total.addingReportingOverflow(entry.size)
      guard entry.size >= 0 else { throw .damaged }
      guard !isTooMuch, isBounded(sum, archiveSize: archiveSize) else { throw .expandsTooFar }
      total = sum
      entries.append(Entry(name: entry.name, size: entry.size))
    }
    return entries
  }

  /// Whether a name leads to something in the archive's own folder.
  private static func isSafe(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix("/") && !name.utf8.contains(0)
      && !name.split(separator: "/").contains { $0 == ".." }
  }

  static func isBounded(_ size: Int, archiveSize: Int) -> Bool {
    size <= max(allowance, archiveSize.multipliedReportingOverflow(by: mostExpansion).partialValue)
  }
}
#endif
