/// A path that continues into an archive, such as `feed.zip/stops.txt`: the archive's own path, and a name in the
/// archive.
package struct ArchivePath: Sendable, Hashable {
  /// The path of the archive, as the caller specified it.
  package let archive: String
  /// The rest of the path, without leading or trailing slashes: the name of an entry or a folder.
  ///
  /// Empty for the archive itself.
  package let entry: String

  /// Splits a path into an archive and an entry.
  ///
  /// Nil if no part of the path is a regular file that begins like a zip archive.
  ///
  /// - Parameter path: The path of an archive, of a file or a folder in it, or of anything else.
  package init?(_ path: String) {
    var archive = path[...]
    while archive.last == "/", archive.count > 1 { archive.removeLast() }
    let whole = archive
    while true {
      switch Platform.isZip(String(archive)) {
      case true?:
        self.archive = String(archive)
        entry = String(whole[archive.endIndex...].drop { $0 == "/" })
        return
      case false?: return nil
      // A path that does not exist might lead into an archive further up.
      case nil:
        guard let slash = archive.lastIndex(of: "/"), slash > archive.startIndex else { return nil }
        archive = archive[..<slash]
      }
    }
  }
}
