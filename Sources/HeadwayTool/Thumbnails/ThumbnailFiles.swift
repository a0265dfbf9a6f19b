#if SQLite && Drawing
  import ArgumentParser
  import Foundation
  import HeadwayDrawing

  /// The pictures of a folder, and where their thumbnails are.
  struct ThumbnailFiles {
    /// Their paths in the folder, in order.
    let names: [String]
    /// The paths of folders in it that can't be listed, so that pictures may be missing.
    let closedFolders: [String]
    private let folder: URL
    private let outputFolder: URL

    /// - Throws: ``ImageFileError`` if the folder can't be read; `ValidationError` if the thumbnails would take the
    ///   places of the pictures.
    init(folder: String, output: String) throws {
      self.folder = URL(fileURLWithPath: folder, isDirectory: true).resolvingSymlinksInPath()
      outputFolder = URL(fileURLWithPath: output, isDirectory: true).resolvingSymlinksInPath()
      guard self.folder.path != outputFolder.path else {
        throw ValidationError("--into \(output): the thumbnails would take the places of the pictures.")
      }
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else {
        throw ImageFileError(.fileNotFound, path: folder)
      }
      guard isFolder.boolValue else { throw ImageFileError(.isNoFile, path: folder, context: "a folder is wanted") }
      (names, closedFolders) = try Self.pictures(in: self.folder, except: outputFolder)
    }

    private static func pictures(in folder: URL, except output: URL) throws -> (names: [String], closed: [String]) {
      // What can't be listed would be left out in silence.
      do { _ = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
        throw ImageFileError(.permissionDenied, path: folder.path)
      }
      guard let enumerator = FileManager.default.enumerator(atPath: folder.path) else { return ([], []) }
      var (names, closed): ([String], [String]) = ([], [])
      while let name = enumerator.nextObject() as? String {
        let last = name.split(separator: "/").last ?? ""
        let url = folder.appendingPathComponent(name)
        if last.hasPrefix(".") || url.path == output.path {
          enumerator.skipDescendants()
        } else if ImageFileFormat(pathExtensionOf: name) != nil, !isFolder(url) {
          names.append(name)
        } else if isClosedFolder(url.path) {
          closed.append(url.path)
        }
      }
      return (names.sorted(), closed.sorted())
    }

    /// Links are not followed.
    private static func isClosedFolder(_ path: String) -> Bool {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
      return access(path, R_OK | X_OK) != 0
    }

    private static func isFolder(_ url: URL) -> Bool {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    func source(_ name: String) -> String { folder.appendingPathComponent(name).path }
    func output(_ name: String) -> String { outputFolder.appendingPathComponent(name).path }

    /// Makes the folders for the thumbnails.
    ///
    /// - Throws: ``ImageFileError``.
    func prepareOutput() throws {
      for folder in Set(names.map { (output($0) as NSString).deletingLastPathComponent } + [outputFolder.path]) {
        do {
          try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
          throw ImageFileError(.cannotWrite, path: folder, context: "the folder can't be made")
        }
      }
    }
  }
#endif
