#if SQLite && Drawing
import ArgumentParser
import HeadwayDrawing
import HeadwayFiles

/// The pictures in a folder, or one picture, and the paths of their thumbnails.
struct ThumbnailFiles {
  /// Their paths in the folder, in order.
  let names: [String]
  /// The paths of subfolders that can't be listed, which means that pictures might be missing.
  let closedFolders: [String]
  private let folder: String
  private let outputFolder: String
  /// The file for the single thumbnail, if its name was specified.
  private var outputFile: String?

  /// - Parameters:
  ///   - source: A folder, or a picture.
  ///   - output: The folder for the thumbnails. For one picture, it can be a file name with the extension of a picture.
  /// - Throws: ``ImageFileError`` if the source can't be read; `ValidationError` if the thumbnails would replace the
  ///   pictures.
  init(of source: String, output: String) throws {
    switch FileSystem.kind(of: source) {
    case nil: throw ImageFileError(.fileNotFound, path: source)
    case .other?:
      throw ImageFileError(
        .notRegularFile, path: source, context: "This is not a regular file: name a picture, or a folder with pictures."
      )
    case .folder?:
      (folder, outputFolder) = (Self.withoutEndingSlash(source), Self.withoutEndingSlash(output))
      guard !Self.areSame(folder, outputFolder) else { throw Self.replacing(output) }
      (names, closedFolders) = try Self.pictures(in: folder, except: outputFolder)
    case .file?:
      folder = FileSystem.folder(of: source)
      (names, closedFolders) = ([String(source.split(separator: "/").last ?? "")], [])
      let isFile = !FileSystem.isFolder(output) && ImageFileFormat(pathExtensionOf: output) != nil
      outputFolder = isFile ? FileSystem.folder(of: output) : Self.withoutEndingSlash(output)
      outputFile = isFile ? output : nil
      guard !Self.areSame(source, self.output(names[0])) else { throw Self.replacing(output) }
    }
  }

  private static func replacing(_ output: String) -> ValidationError {
    ValidationError("--output \(output): the thumbnails would replace the pictures.")
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
#endif
