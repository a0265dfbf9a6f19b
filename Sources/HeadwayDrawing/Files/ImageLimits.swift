#if Drawing
/// How large an image file may be, so that a hostile one takes neither the memory nor the time of the process.
public struct ImageLimits: Sendable, Hashable {
  /// The most pixels that a file may declare.
  ///
  /// 268,435,456 (16,384 × 16,384) by default: more than any camera has. Decoding takes time in proportion to it.
  public var maximumPixelCount: Int

  /// The most bytes that decoding takes beside the result.
  ///
  /// 512 MiB by default. What is decoded row by row takes less than 1 MiB; progressive JPEG and interlaced PNG take
  /// some bytes for each pixel of the file, and are refused beyond this limit.
  public var maximumDecodingMemory: Int

  /// The most passes over the picture in a progressive JPEG.
  ///
  /// 100 by default; usual files have about 10. A small file can ask for thousands.
  public var maximumScanCount: Int

  /// The limits that are used if no others are given.
  public static let `default` = ImageLimits()

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - maximumPixelCount: The most pixels that a file may declare.
  ///   - maximumDecodingMemory: The most bytes that decoding takes beside the result.
  ///   - maximumScanCount: The most passes over the picture in a progressive JPEG.
  public init(
    maximumPixelCount: Int = 1 << 28, maximumDecodingMemory: Int = 512 << 20, maximumScanCount: Int = 100
  ) {
    self.maximumPixelCount = maximumPixelCount
    self.maximumDecodingMemory = maximumDecodingMemory
    self.maximumScanCount = maximumScanCount
  }
}
#endif
