#if SQLite && Drawing
import ArgumentParser
import HeadwayDrawing
import HeadwayFiles

/// The pictures in a folder, or one picture, and the paths of their thumbnails.
struct ThumbnailFiles {
  /// Their paths in the folder, in order.
  let names: [String]
  /// The paths of subfolders that can't be listed.
  ///
  /// As a result, pictures might be missing.
  let closedFolders: [String]
  private let folder: String
  private let outputFolder: String
  /// The file for the single thumbnail, if its name was specified.
  private var outputFile: String?

  /// The place for thumbnails: a folder for several, with the names of their pictures, or a file for a single one.
  enum Destination { case folder(String), file(String) }

  /// - Parameters:
  ///   - source: A folder, or a picture.
  ///   - destination: A folder. If `source` is a picture, the destination can also be a file.
  /// - Throws: ``ImageFileError`` if the source can't be read; `ValidationError` if the thumbnails would replace the
  ///   pictures, or if a folder of pictures should go to a file.
  init(of source: String, to destination: Destination) throws {
    switch FileSystem.kind(of: source) {
    case nil: throw ImageFileError(.fileNotFound, path: source)
    case .other?:
      throw ImageFileError(
        .notRegularFile, path: source, context: "This is not a regular file: name a picture, or a folder with pictures."
      )
    case .folder?:
      guard case .folder(let path) = destination else { throw Self.manyPictures(destination, source) }
      (folder, outputFolder) = (Self.withoutEndingSlash(source), Self.withoutEndingSlash(path))
      guard !Self.areSame(folder, outputFolder) else { throw Self.replacing(destination) }
      (names, closedFolders) = try Self.pictures(in: folder, except: outputFolder)
    case .file?:
      folder = FileSystem.folder(of: source)
      (names, closedFolders) = ([String(source.split(separator: "/").last ?? "")], [])
      switch destination {
      case .folder(let path): outputFolder = Self.withoutEndingSlash(path)
      case .file(let path): (outputFolder, outputFile) = (FileSystem.folder(of: path), path)
      }
      guard !Self.areSame(source, self.output(names[0])) else { throw Self.replacing(destination) }
    }
  }

  private static func replacing(_ destination: Destination) -> ValidationError {
    ValidationError("\(destination.option): the thumbnails would replace the pictures.")
  }

  private static func manyPictures(_ destination: Destination, _ source: String) -> ValidationError {
    ValidationError("\(destination.option) requires a single picture, but \(source) is a folder. Use --into.")
  }

  private static func withoutEndingSlash(_ path: String) -> String {
    var path = path[...]
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    return String(path)
  }

  private static func areSame(_ path: String, _ other: String) -> Bool {
    guard let path = FileSystem.resolved(path), let other = FileSystem.resolved(other) else { return false }
    return path.pathBytes == other.pathBytes
  }

  private static func pictures(in folder: String, except output: String) throws -> (names: [String], closed: [String]) {
    var (names, closed): ([String], [String]) = ([], [])
    var rest = [""]
    while let inner = rest.popLast() {
      let path = inner.isEmpty ? folder : "\(folder)/\(inner)"
      guard let found = try? FileSystem.names(inFolder: path) else {
        // A folder that can't be listed would be omitted silently.
        guard !inner.isEmpty else { throw ImageFileError(.permissionDenied, path: folder) }
        closed.append(path)
        continue
      }
      for last in found where !last.hasPrefix(".") {
        let name = inner.isEmpty ? last : "\(inner)/\(last)"
        // Links to folders are not followed.
        if FileSystem.kind(of: "\(folder)/\(name)", followsLinks: false) == .folder {
          if !areSame("\(folder)/\(name)", output) { rest.append(name) }
        } else if ImageFileFormat(pathExtensionOf: last) != nil, !FileSystem.isFolder("\(folder)/\(name)") {
          names.append(name)
        }
      }
    }
    return (names.sorted(), closed.sorted())
  }

  func source(_ name: String) -> String { "\(folder)/\(name)" }
  func output(_ name: String) -> String { outputFile ?? "\(outputFolder)/\(name)" }

  /// Creates the folders for the thumbnails.
  ///
  /// - Throws: ``ImageFileError``.
  func prepareOutput() throws {
    // Compares bytes, because names that differ only in their bytes are equal as strings.
    let folders = Set(names.map { FileSystem.folder(of: output($0)).pathBytes } + [outputFolder.pathBytes])
    for folder in folders.map({ String(pathBytes: $0) }) {
      do {
        try FileSystem.createFolder(folder)
      } catch {
        throw ImageFileError(
          .cannotWrite, path: folder, context: "The folder can't be created.", systemErrorNumber: error.errorNumber)
      }
    }
  }
}

extension ThumbnailFiles.Destination {
  /// The option of the command that specifies it.
  fileprivate var option: String {
    switch self {
    case .folder(let path): "--into \(path)"
    case .file(let path): "--output \(path)"
    }
  }
}
#endif
