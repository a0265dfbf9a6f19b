#if Drawing
/// A finished picture: pixels that never change.
///
/// A value that any number of threads may read; copies share the pixels. Draw one with a ``DrawingOperation``, or
/// read a file with ``init(contentsOf:limits:)`` or ``init(thumbnailOf:fitting:limits:isCancelled:)``.
///
/// Pixels are sRGB, unless ``colorProfile`` says something else.
public struct Image: Sendable {
  let storage: PixelStorage

  /// How many pixels make a point, in each direction.
  ///
  /// 1 for an image of a file, and for a display of usual density; 2 or 3 for finer ones.
  public let scale: Double

  /// The ICC profile that says which colours the pixels are, as the file had it; nil for sRGB.
  ///
  /// Written to files with the pixels. Drawing into a context takes the pixels as they are.
  public let colorProfile: [UInt8]?

  init(_ storage: PixelStorage, scale: Double = 1, colorProfile: [UInt8]? = nil) {
    (self.storage, self.scale, self.colorProfile) = (storage, scale, colorProfile)
  }

  /// The width, in pixels.
  public var pixelWidth: Int { storage.width }

  /// The height, in pixels.
  public var pixelHeight: Int { storage.height }

  /// The size in points: the pixels divided by the scale.
  public var size: Size { Size(Double(pixelWidth) / scale, Double(pixelHeight) / scale) }

  /// How much memory the pixels take.
  public var byteCount: Int { storage.bytes.count }

  /// Whether no pixel lets anything shine through.
  ///
  /// - Complexity: O(*n*) in the number of pixels.
  public var isOpaque: Bool {
    withExtendedLifetime(storage) { storage.bytes.bindMemory(to: UInt32.self).allSatisfy { $0 >> 24 == 255 } }
  }

  /// The colour of a pixel.
  ///
  /// - Parameters:
  ///   - x: The column, from 0 at the left.
  ///   - y: The row, from 0 at the top.
  /// - Returns: The colour, not premultiplied.
  /// - Precondition: The pixel is in the image.
  public func color(x: Int, y: Int) -> Color {
    precondition(
      0..<pixelWidth ~= x && 0..<pixelHeight ~= y,
      "Image.color(x: \(x), y: \(y)): the image has \(pixelWidth) × \(pixelHeight) pixels.")
    let pixel = storage[x, y]
    let alpha = Double(pixel >> 24)
    func component(_ shift: UInt32) -> Double {
      alpha > 0 ? min(1, Double(pixel >> shift & 0xFF) / alpha) : 0
    }
    return Color(red: component(16), green: component(8), blue: component(0), opacity: alpha / 255)
  }

  /// Calls a closure with the pixels, rows from the top without gaps.
  ///
  /// Each pixel is a 32-bit word in the byte order of the machine: alpha in the highest byte, then red, green and
  /// blue, which are premultiplied by it. On a machine with the lowest byte first, the bytes are blue, green, red,
  /// alpha.
  ///
  /// - Parameter body: Reads the bytes; the pointer is not valid after it returns.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(storage) {} }
    return try body(UnsafeRawBufferPointer(storage.bytes))
  }
}

extension Image: CustomStringConvertible {
  /// The size in pixels, and the scale if it is not 1.
  public var description: String {
    "\(pixelWidth) × \(pixelHeight) pixels" + (scale == 1 ? "" : ", \(scale) a point")
  }
}
#endif
