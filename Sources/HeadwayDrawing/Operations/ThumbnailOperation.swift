#if Drawing
public import Headway
import Synchronization

/// Creates a thumbnail of a JPEG or PNG file in the background, and optionally writes it to a file.
///
/// ```swift
/// import HeadwayDrawing
///
/// let thumbnail = ThumbnailOperation(of: "photo.jpg", fitting: 256)
/// queue.addOperation(thumbnail)
/// print(try await thumbnail.value.size)
/// ```
///
/// Cancelling the operation ends the decoding at the next row. If the output file does not have its name yet, it is
/// discarded, and an existing file of that name is kept. The operation fails with an ``ImageFileError``.
public final class ThumbnailOperation: Headway.Operation, ValueOperation, @unchecked Sendable {
  /// The file that is read.
  public let path: String
  /// The maximum length of the longer side of the thumbnail, in pixels.
  public let side: Int
  /// The file that is written, if any.
  public let outputPath: String?

  private let limits: ImageLimits
  private let quality: Int
  // Protected by its lock.
  private let made = Mutex<Image?>(nil)

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - path: The file to read.
  ///   - side: The maximum length of the longer side of the thumbnail, in pixels.
  ///   - outputPath: The file to write, in the format of its file name extension; nil for none.
  ///   - quality: The quality of a JPEG that is written, from 1 to 100.
  ///   - limits: The limits for the file.
  /// - Precondition: `side` is above 0, and `quality` from 1 to 100.
  public init(
    of path: String, fitting side: Int, into outputPath: String? = nil, quality: Int = 85,
    limits: ImageLimits = .default
  ) {
    require(side > 0, "A thumbnail fitting \(side) pixels: use 1 or more.")
    require(1...100 ~= quality, "A JPEG of quality \(quality): use 1 to 100.")
    (self.path, self.side, self.outputPath) = (path, side, outputPath)
    (self.quality, self.limits) = (quality, limits)
    super.init()
  }

  /// The thumbnail.
  ///
  /// Nil until the operation has finished. Always nil if the operation failed or was cancelled.
  public var image: Image? {
    guard case .success? = outcome else { return nil }
    return made.withLock { $0 }
  }

  /// The thumbnail, for a task that waits for it.
  ///
  /// If the waiting task is cancelled, the wait ends and the operation continues.
  ///
  /// - Throws: The error of the operation; `CancellationError` if the operation or the waiting task is cancelled.
  public var value: Image {
    get async throws {
      try await untilSucceeded()
      guard let image else { throw CancellationError() }
      return image
    }
  }

  /// Creates the thumbnail.
  ///
  /// - Throws: ``ImageFileError``.
  public override func main() throws {
    do {
      let image = try Image(
        thumbnailOf: .file(path), fitting: side, limits: limits, isCancelled: { [unowned self] in isCancelled })
      guard !isCancelled else { return }
      if let outputPath,
        try !image.write(to: outputPath, quality: quality, comment: nil, isCancelled: { isCancelled })
      {
        return
      }
      made.withLock { $0 = image }
    } catch let error where isCancelled && error is CancellationError {
      return
    }
  }
}
#endif
