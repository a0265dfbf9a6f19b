import Foundation
import HeadwayFiles
import HeadwayLines

/// The files of a folder, or of a zip archive used as one.
package struct SourceFolder: Sendable {
  package struct File: Sendable, Hashable {
    package let name: String
    /// The size in bytes, or in an archive, the size of the unpacked file; nil if it is not a regular file.
    package let size: Int?
    /// Whether the file has no bytes.
    package let isEmpty: Bool
    /// Whether the file is a link that leads nowhere.
    package var isMissing = false
  }

  /// The path before the slash and a file's name: a folder, an archive, or a folder in an archive.
  package let path: String
  /// The files, sorted by name, without folders and hidden files.
  package let files: [File]
  /// The files in inner folders, by their path relative to this folder; in a folder on disk, only one level down.
  let filesInside: [String]

  /// Examines a folder or an archive.
  ///
  /// In an archive, this selects the folder that has the files of a feed or, if there is none, the outermost folder
  /// with files.
  ///
  /// - Parameter path: The path of a folder, an archive, or a folder in an archive.
  /// - Throws: ``ImportError`` with the code `cannotReadFile` or `foreignContent`.
  package init(path: String) throws(ImportError) {
    #if Compression
    if let archive = ArchivePath(path) {
      self = try Self(archive)
      return
    }
    #endif
    do {
      let names = try FileSystem.names(inFolder: path).sorted().filter { !$0.hasPrefix(".") }
      files = names.compactMap { Self.file($0, in: path) }
      filesInside = names.filter { FileSystem.isFolder("\(path)/\($0)") }.flatMap { folder in
        let inside = (try? FileSystem.names(inFolder: "\(path)/\(folder)")) ?? []
        return inside.filter { !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
      }
    } catch {
      guard let kind = FileSystem.kind(of: path) else {
        throw ImportError(.cannotReadFile, path: path, context: "There is no such file or folder.")
      }
      guard kind == .folder else { throw Self.noFolder(path) }
      throw ImportError(.cannotReadFile, path: path, context: "The folder can't be read.", underlyingError: error)
    }
    self.path = path
  }

  /// Creates the error for a file that is not a folder or an archive.
  private static func noFolder(_ path: String) -> ImportError {
    #if Compression
    if path.lowercased().hasSuffix(".zip") {
      return ImportError(
        .cannotReadFile, path: path, context: "This file isn't a zip archive, although its name ends like one.")
    }
    #endif
    return ImportError(
      .cannotReadFile, path: path, context: "This file isn't a feed: a feed is a folder or a zip archive.")
  }

  private static func file(_ name: String, in folder: String) -> File? {
    switch FileSystem.kind(of: "\(folder)/\(name)") {
    case .folder?: nil
    case .file(let size)?: File(name: name, size: size, isEmpty: size == 0)
    case .other?: File(name: name, size: nil, isEmpty: false)
    case nil: File(name: name, size: nil, isEmpty: false, isMissing: true)
    }
  }

  /// Whether there is a folder, an archive, or a folder in an archive at a path.
  ///
  /// - Parameter path: The path to examine.
  /// - Returns: True if it is; false otherwise, and if nothing exists at the path.
  package static func isFolder(_ path: String) -> Bool {
    if let kind = FileSystem.kind(of: path) {
      if kind == .folder { return true }
      #if Compression
      return ArchivePath(path) != nil
      #endif
    }
    #if Compression
    guard let inArchive = ArchivePath(path), let entries = try? ZipArchive(path: inArchive.archive).entries else {
      return false
    }
    return entries.contains { $0.name.hasPrefix("\(inArchive.entry)/") }
    #else
    return false
    #endif
  }

  /// The size of a file in an archive in bytes when it is unpacked; nil if the file does not exist.
  ///
  /// - Parameter path: The path of the archive, followed by the name in it.
  /// - Returns: The number of bytes.
  /// - Throws: ``ImportError`` with the code `cannotReadFile` or `foreignContent`.
  package static func size(ofFileInArchive path: String) throws(ImportError) -> Int? {
    #if Compression
    guard let inArchive = ArchivePath(path) else { return nil }
    do {
      return try ZipArchive(path: inArchive.archive).entries.first { $0.name == inArchive.entry }?.size
    } catch { throw ImportError(reading: error) }
    #else
    return nil
    #endif
  }

  // MARK: Archives

  #if Compression
  private init(_ archive: ArchivePath) throws(ImportError) {
    let entries: [ZipArchive.Entry]
    do { entries = try ZipArchive(path: archive.archive).entries } catch {
      throw ImportError(reading: error)
    }
    // Groups the entries by their folders, without the files that macOS adds.
    let visible = entries.filter { !$0.name.split(separator: "/").contains { $0.hasPrefix(".") || $0 == "__MACOSX" } }
    let folders = Dictionary(grouping: visible) { Self.folder(of: $0.name) }
    let folder = try Self.choose(folders, in: archive)
    path = folder.isEmpty ? archive.archive : "\(archive.archive)/\(folder)"
    files = (folders[folder] ?? []).map { entry in
      let name = folder.isEmpty ? entry.name : String(entry.name.dropFirst(folder.count + 1))
      return File(name: name, size: entry.size, isEmpty: entry.size == 0)
    }.sorted { $0.name < $1.name }
    let start = folder.isEmpty ? "" : "\(folder)/"
    filesInside = visible.map(\.name).filter { $0.hasPrefix(start) && Self.folder(of: $0) != folder }
      .map { String($0.dropFirst(start.count)) }.sorted()
  }

  private static func folder(of name: String) -> String {
    name.lastIndex(of: "/").map { String(name[..<$0]) } ?? ""
  }

  private static func choose(
    _ folders: [String: [ZipArchive.Entry]], in archive: ArchivePath
  ) throws(ImportError) -> String {
    let wanted = archive.entry
    let inside = folders.filter { wanted.isEmpty || $0.key == wanted || $0.key.hasPrefix("\(wanted)/") }
    let feeds = inside.filter { GTFSSchema.isFeed($0.value.map { String($0.name.split(separator: "/").last ?? "") }) }
    let depth = { (folder: String) in folder.isEmpty ? 0 : folder.split(separator: "/").count }
    let candidates = (feeds.isEmpty ? inside : feeds).keys
    guard let least = candidates.map(depth).min() else {
      throw ImportError(.foreignContent, path: archive.archive, context: "There is no file in this archive.")
    }
    let outermost = candidates.filter { depth($0) == least }.sorted()
    guard outermost.count == 1, let folder = outermost.first else {
      throw ImportError(
        .foreignContent, path: archive.archive,
        context:
          "There are several folders with files in this archive: name one, as \(archive.archive)/\(outermost[0]).")
    }
    return folder
  }
  #endif
}
