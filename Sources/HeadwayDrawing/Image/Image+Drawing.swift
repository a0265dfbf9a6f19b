#if Drawing
import Headway

extension Image {
  /// The maximum width and height of an image that you can draw into, in pixels.
  public static let maxDrawingDimension = 32_767  // cairo's limit: its coordinates are signed 16-bit numbers.

  /// Draws an image immediately, on the calling thread.
  ///
  /// A ``DrawingOperation`` does the same on a thread of its queue.
  ///
  /// - Parameters:
  ///   - width: The width, in points.
  ///   - height: The height, in points.
  ///   - scale: The number of pixels per point.
  ///   - draw: Draws into the context, which can't be used after this closure returns.
  /// - Throws: The error that `draw` throws, or a ``DrawingError``.
  /// - Precondition: The size in pixels is from 1 to ``maxDrawingDimension`` in each direction.
  public init(
    width: Double, height: Double, scale: Double = 1, draw: (DrawingContext) throws -> Void
  ) throws {
    try self.init(PixelSize(width: width, height: height, scale: scale), isCancelled: nil, draw: draw)
  }

  init(_ size: PixelSize, isCancelled: (() -> Bool)?, draw: (DrawingContext) throws -> Void) throws {
    guard let storage = PixelStorage(width: size.pixelWidth, height: size.pixelHeight) else {
      throw DrawingError(.outOfMemory, detail: "an image of \(size.pixelWidth) × \(size.pixelHeight) pixels")
    }
    let context = DrawingContext(storage, size, isCancelled: isCancelled)
    defer { context.end() }
    try draw(context)
    try context.finish()
    self.init(storage, scale: size.scale)
  }
}

/// The size of an image to draw.
struct PixelSize: Sendable {
  let width: Double
  let height: Double
  let scale: Double
  let pixelWidth: Int
  let pixelHeight: Int

  init(width: Double, height: Double, scale: Double) {
    let limit = Double(Image.maxDrawingDimension)
    let (horizontal, vertical) = ((width * scale).rounded(.up), (height * scale).rounded(.up))
    require(
      width > 0 && height > 0 && scale > 0 && 1...limit ~= horizontal && 1...limit ~= vertical,
      """
      An image of \(width) × \(height) points at \(scale) pixels a point can't be drawn: use sizes above 0 and of at \
      most \(Image.maxDrawingDimension) pixels.
      """)
    (self.width, self.height, self.scale) = (width, height, scale)
    (pixelWidth, pixelHeight) = (Int(horizontal), Int(vertical))
  }
}
#endif
