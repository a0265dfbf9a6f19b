#if Drawing
public import Headway
import Synchronization

/// Makes a thumbnail of a JPEG or PNG file, in the background; on request it writes that to a file.
///
/// ```swift
/// import HeadwayDrawing
///
/// let thumbnail = ThumbnailOperation(of: "photo.jpg", fitting: 256)
/// queue.addOperation(thumbnail)
/// print(try await thumbnail.value.size)
/// ```
///
/// Cancelling ends the decoding at the next row. A file that does not have its name yet will never have it; what had
/// the name keeps it. The operation fails with an ``ImageFileError``.
public final class ThumbnailOperation: Headway.Operation, @unchecked Sendable {
  /// The file that is read.
  public let path: String
  /// The longer side of the thumbnail, in pixels.
  public let side: Int
  /// The file that is written, if one is.
  public let outputPath: String?

  private let limits: ImageLimits
  private let quality: Int
  // Protected by its lock.
  private let made = Mutex<Image?>(nil)

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - path: The file to read.
  ///   - side: The longer side of the thumbnail, in pixels.
  ///   - outputPath: The file to write, in the format that its name says; nil for none.
  ///   - quality: The quality of a JPEG that is written, from 1 to 100.
  ///   - limits: How large the file may be.
  /// - Precondition: `side` is above 0, and `quality` from 1 to 100.
  public init(
    of path: String, fitting side: Int, into outputPath: String? = nil, quality: Int = 85,
    limits: ImageLimits = .default
  ) {
    precondition(side > 0, "A thumbnail fitting \(side) pixels: use 1 or more.")
    precondition(1...100 ~= quality, "A JPEG of quality \(quality): use 1 to 100.")
    (self.path, self.side, self.outputPath) = (path, side, outputPath)
    (self.quality, self.limits) = (quality, limits)
    super.init()
  }

  /// The thumbnail.
  ///
  /// Nil until the operation has finished, and for ever if it failed or was cancelled.
  public var image: Image? {
    guard case .success? = outcome else { return nil }
    return made.withLock { $0 }
  }

  /// The thumbnail, for a task that waits for it.
  ///
  /// Where that task is cancelled the wait ends, and the operation goes on.
  ///
  /// - Throws: What made the operation fail; `CancellationError` when it was cancelled, or the task that waits is.
  public var value: Image {
    get async throws {
      try await finishedSuccessfully()
      guard let image else { throw CancellationError() }
      return image
    }
  }

  /// Makes the thumbnail.
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
    } catch is CancellationError {
      return
    }
  }
}
#endif
