#if SQLite && Drawing
import Foundation
import Headway
import HeadwayDrawing
import HeadwayFiles

/// Creates one thumbnail, unless there is one that is up to date.
///
/// A thumbnail has the modification time of its picture. Therefore, the tool can determine whether a thumbnail belongs
/// to the current picture, even if the picture was replaced by an older one.
final class ThumbnailJob: Headway.Operation, @unchecked Sendable {
  private let source: String
  private let output: String
  private let side: Int
  private let quality: Int
  private let force: Bool
  private let end: @Sendable (Result<Bool, any Error>) -> Void

  /// Calls `end` before the operation finishes, unless creating the thumbnail was cancelled.
  ///
  /// The result is whether a thumbnail was created, or the reason for the failure.
  init(
    _ source: String, _ output: String, side: Int, quality: Int, force: Bool,
    end: @escaping @Sendable (Result<Bool, any Error>) -> Void
  ) {
    (self.source, self.output, self.side, self.quality, self.force) = (source, output, side, quality, force)
    self.end = end
    super.init()
  }

  override func main() throws {
    do {
      if let isMade = try make() { end(.success(isMade)) }
    } catch {
      end(.failure(error))
      throw error
    }
  }

  /// - Returns: Whether a thumbnail was created. Nil if that was cancelled.
  private func make() throws -> Bool? {
    var status = stat()
    guard source.withPathBytes({ stat($0, &status) }) == 0 else { throw ImageFileError(.fileNotFound, path: source) }
    if !force {
      if isUpToDate(status) { return false }
      try checkThatItIsOurs()
    }
    do {
      let thumbnail = try Image(thumbnailOf: source, fitting: side) { [unowned self] in isCancelled }
      guard !isCancelled else { return nil }
      let isWritten = try thumbnail.write(
        to: output, quality: quality, comment: Self.mark, modified: status.modification.value
      ) { isCancelled }
      return isWritten ? true : nil
    } catch let error where isCancelled && error is CancellationError {
      return nil
    }
  }

  /// The comment that marks a file as a thumbnail from this tool.
  private static let mark = "headway thumbnails"

  /// The file might be a user's picture with the same name, which would be lost.
  private func checkThatItIsOurs() throws {
    var status = stat()
    guard output.withPathBytes({ lstat($0, &status) }) == 0, !ImageComment.isFound(Self.mark, in: output) else {
      return
    }
    throw ImageFileError(
      .cannotWrite, path: output,
      context: "Another file has the name of the thumbnail. Use --force to replace it.")
  }

  private func isUpToDate(_ source: stat) -> Bool {
    var status = stat()
    guard output.withPathBytes({ stat($0, &status) }) == 0, status.modification == source.modification,
      let found = longerSide(output)
    else { return false }
    // A small picture keeps its size.
    return found == side || found < side && longerSide(self.source) == found
  }

  private func longerSide(_ path: String) -> Int? {
    (try? ImageFileInformation(contentsOf: path)).map { max($0.pixelWidth, $0.pixelHeight) }
  }
}

/// The modification time of a file.
private struct FileTime: Equatable {
  let seconds: Int
  let nanoseconds: Int

  var value: timespec { timespec(tv_sec: seconds, tv_nsec: nanoseconds) }
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
#endif
