/// A path that goes on into an archive, as `feed.zip/stops.txt` does: the archive's own path, and a name in it.
package struct ArchivePath: Sendable, Hashable {
  /// The path of the archive, as it was named.
  package let archive: String
  /// What follows, without a slash at its ends: the name of an entry or of a folder; empty for the archive itself.
  package let entry: String

  /// Divides a path.
  ///
  /// Nil if no part of it is a regular file that begins as a zip archive does.
  ///
  /// - Parameter path: The path.
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
      // What is not there may be in what is above it.
      case nil:
        guard let slash = archive.lastIndex(of: "/"), slash > archive.startIndex else { return nil }
        archive = archive[..<slash]
      }
    }
  }
}
