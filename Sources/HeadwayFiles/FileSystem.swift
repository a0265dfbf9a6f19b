#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The folders and files of the system.
///
/// The bytes of their paths do not need to be valid UTF-8.
package enum FileSystem {
  package enum Kind: Sendable, Equatable {
    case folder
    /// A regular file with this number of bytes.
    case file(size: Int)
    /// A pipe, a device, a socket, or, if links are not followed, a link.
    case other
  }

  /// A system call that failed.
  package struct Failure: Error, CustomStringConvertible {
    package let errorNumber: Int32
    package var description: String { strerror(errorNumber).map { String(cString: $0) } ?? "error \(errorNumber)" }
  }

  /// Returns the kind of file at a path; nil if there is none.
  ///
  /// For a link, returns the kind of its target, unless links are not followed.
  package static func kind(of path: String, followsLinks: Bool = true) -> Kind? {
    var status = stat()
    guard path.withPathBytes({ followsLinks ? stat($0, &status) : lstat($0, &status) }) == 0 else { return nil }
    return switch status.st_mode & S_IFMT {
    case S_IFDIR: .folder
    case S_IFREG: .file(size: Int(status.st_size))
    default: .other
    }
  }

  package static func isFolder(_ path: String) -> Bool { kind(of: path) == .folder }

  /// Returns the names in a folder, sorted by their bytes.
  package static func names(inFolder path: String) throws(Failure) -> [String] {
    guard let folder = path.withPathBytes({ opendir($0) }) else { throw Failure(errorNumber: errno) }
    defer { closedir(folder) }
    var names: [[UInt8]] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
        let count = MemoryLayout.size(ofValue: start.pointee)
        return Array(UnsafeRawBufferPointer(start: start, count: count).prefix { $0 != 0 })
      }
      if name != [UInt8(ascii: ".")], name != Array("..".utf8) { names.append(name) }
    }
    return names.sorted { $0.lexicographicallyPrecedes($1) }.map { String(pathBytes: $0) }
  }

  /// Creates a folder and its parent folders, unless they exist.
  package static func createFolder(_ path: String) throws(Failure) {
    let bytes = path.pathBytes
    // "a/b" is created as "a", then "a/b". An empty component (a leading or a doubled slash) needs no folder.
    for end in 1...max(1, bytes.count) where end >= bytes.count || bytes[end] == UInt8(ascii: "/") {
      let part = String(pathBytes: bytes.prefix(end))
      // Parent folders might exist and be inaccessible, which `mkdir` reports before it would report EEXIST. Only the
      // whole path must be a folder in the end.
      guard part.withPathBytes({ mkdir($0, 0o777) }) != 0 else { continue }
      let errorNumber = errno
      if end >= bytes.count, !isFolder(path) { throw Failure(errorNumber: errorNumber) }
    }
  }

  /// Returns the path of the folder that contains a file, based only on the text of its path.
  package static func folder(of path: String) -> String {
    guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return end == path.startIndex ? "/" : String(path[..<end])
  }

  /// Returns the absolute path without links; nil if there is no file at the path.
  package static func resolved(_ path: String) -> String? {
    guard let resolved = path.withPathBytes({ realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return String(path: resolved)
  }
}
