#if Drawing
import Headway

/// A finished image, whose pixels never change.
///
/// An image is a value that any number of threads can read. Copies share the pixels. Draw an image with a
/// ``DrawingOperation``, or read a file with ``init(contentsOf:limits:)`` or
/// ``init(thumbnailOf:fitting:limits:isCancelled:)``.
///
/// Pixels are in sRGB, unless ``colorProfile`` specifies another color space.
public struct Image: Sendable {
  let storage: PixelStorage

  /// The number of pixels per point, in each direction.
  ///
  /// The scale is 1 for an image from a file, and for a display of standard density; 2 or 3 for denser displays.
  public let scale: Double

  /// The ICC profile of the pixels, as read from the file; nil for sRGB.
  ///
  /// The profile is written to files together with the pixels. Drawing the image into a context ignores it.
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

  /// The number of bytes that the pixels take.
  public var byteCount: Int { storage.bytes.count }

  /// Whether all pixels are fully opaque.
  ///
  /// - Complexity: O(*n*) in the number of pixels.
  public var isOpaque: Bool {
    withExtendedLifetime(storage) { storage.bytes.bindMemory(to: UInt32.self).allSatisfy { $0 >> 24 == 255 } }
  }

  /// Returns the color of a pixel.
  ///
  /// - Parameters:
  ///   - x: The column, from 0 at the left.
  ///   - y: The row, from 0 at the top.
  /// - Returns: The color, not premultiplied.
  /// - Precondition: The pixel is in the image.
  public func color(x: Int, y: Int) -> Color {
    require(
      0..<pixelWidth ~= x && 0..<pixelHeight ~= y,
      "Image.color(x: \(x), y: \(y)): the image has \(pixelWidth) × \(pixelHeight) pixels.")
    let pixel = storage[x, y]
    let alpha = Double(pixel >> 24)
    func component(_ shift: UInt32) -> Double {
      alpha > 0 ? min(1, Double((pixel >> shift) & 0xFF) / alpha) : 0
    }
    return Color(red: component(16), green: component(8), blue: component(0), opacity: alpha / 255)
  }

  /// Calls a closure with the pixels, in rows from the top without gaps.
  ///
  /// Each pixel is a 32-bit word in native byte order: alpha in the highest byte, then red, green, and blue,
  /// premultiplied by alpha. On a little-endian machine, the bytes are blue, green, red, alpha.
  ///
  /// - Parameter body: Reads the bytes. The pointer is not valid after the closure returns.
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws.
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
