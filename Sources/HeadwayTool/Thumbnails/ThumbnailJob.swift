#if SQLite && Drawing
  import Foundation
  import Headway
  import HeadwayDrawing
  import Synchronization

  /// Makes one thumbnail, unless there is one that is up to date.
  ///
  /// A thumbnail has its picture's time of modification: so it is known whose it is, even where a picture was replaced by
  /// an older one.
  final class ThumbnailJob: Headway.Operation, @unchecked Sendable {
    private let source: String
    private let output: String
    private let side: Int
    private let quality: Int
    private let force: Bool
    private let foundUpToDate = Atomic(false)

    init(_ source: String, _ output: String, side: Int, quality: Int, force: Bool) {
      (self.source, self.output, self.side, self.quality, self.force) = (source, output, side, quality, force)
      super.init()
    }

    var wasUpToDate: Bool { foundUpToDate.load(ordering: .relaxed) }

    override func main() throws {
      var status = stat()
      guard stat(source, &status) == 0 else { throw ImageFileError(.fileNotFound, path: source) }
      if !force, isUpToDate(status) { return foundUpToDate.store(true, ordering: .relaxed) }
      let thumbnail = ThumbnailOperation(of: source, fitting: side, into: output, quality: quality)
      onCancel { [weak thumbnail] in thumbnail?.cancel() }
      thumbnail.start()
      if let error = thumbnail.error { throw error }
      // If the process ends before this, the thumbnail is made once more.
      if thumbnail.image != nil { setTimes(of: output, status.modification) }
    }

    private func isUpToDate(_ source: stat) -> Bool {
      var status = stat()
      guard stat(output, &status) == 0, status.modification == source.modification,
        let found = longerSide(output)
      else { return false }
      // A small picture keeps its size.
      return found == side || found < side && longerSide(self.source) == found
    }

    private func longerSide(_ path: String) -> Int? {
      (try? ImageFileInformation(contentsOf: path)).map { max($0.pixelWidth, $0.pixelHeight) }
    }
  }

  /// A time of a file.
  private struct FileTime: Equatable {
    let seconds: Int
    let nanoseconds: Int
  }

  extension stat {
    fileprivate var modification: FileTime {
      #if canImport(Darwin)
        FileTime(seconds: st_mtimespec.tv_sec, nanoseconds: st_mtimespec.tv_nsec)
      #else
        FileTime(seconds: st_mtim.tv_sec, nanoseconds: st_mtim.tv_nsec)
      #endif
    }
  }

  private func setTimes(of path: String, _ time: FileTime) {
    let value = timespec(tv_sec: time.seconds, tv_nsec: time.nanoseconds)
    _ = utimensat(AT_FDCWD, path, [value, value], 0)
  }
#endif
