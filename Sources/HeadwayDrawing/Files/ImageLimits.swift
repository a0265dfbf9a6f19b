#if Drawing
/// Limits for image files, which prevent a malicious file from exhausting the memory or the time of the process.
public struct ImageLimits: Sendable, Hashable {
  /// The maximum number of pixels that a file may declare.
  ///
  /// The default is 268,435,456 (16,384 × 16,384), which is more than any camera produces. The time to decode a file is
  /// proportional to its number of pixels.
  public var maxPixelCount: Int

  /// The maximum number of bytes that decoding takes in addition to the result.
  ///
  /// The default is 512 MiB. Decoding row by row takes less than 1 MiB. Progressive JPEG and interlaced PNG take some
  /// bytes per pixel of the file and are rejected beyond this limit.
  public var maxDecodingMemory: Int

  /// The maximum number of passes in a progressive JPEG.
  ///
  /// The default is 100; typical files have about 10. A small file can require thousands.
  public var maxScanCount: Int

  /// The default limits.
  public static let `default` = ImageLimits()

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - maxPixelCount: The maximum number of pixels that a file may declare.
  ///   - maxDecodingMemory: The maximum number of bytes that decoding takes in addition to the result.
  ///   - maxScanCount: The maximum number of passes in a progressive JPEG.
  public init(
    maxPixelCount: Int = 1 << 28, maxDecodingMemory: Int = 512 << 20, maxScanCount: Int = 100
  ) {
    self.maxPixelCount = maxPixelCount
    self.maxDecodingMemory = maxDecodingMemory
    self.maxScanCount = maxScanCount
  }
}
#endif
