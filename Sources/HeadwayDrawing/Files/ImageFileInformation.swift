#if Drawing
/// Information from the header of an image file, which takes almost no time to read.
public struct ImageFileInformation: Sendable, Hashable {
  /// The format, determined from the content of the file.
  public let format: ImageFileFormat
  /// The width of the upright image, in pixels.
  public let pixelWidth: Int
  /// The height of the upright image, in pixels.
  public let pixelHeight: Int

  /// Reads the header of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - limits: The limits for the file.
  /// - Throws: ``ImageFileError``.
  public init(contentsOf path: String, limits: ImageLimits = .default) throws {
    let decoding = ImageDecoding(source: .file(path), limits: limits, side: nil, isCancelled: { false })
    let metadata: ImageMetadata
    (format, metadata) = try decoding.readHeader()
    let swaps = metadata.orientation.swapsSides
    (pixelWidth, pixelHeight) =
      swaps ? (metadata.height, metadata.width) : (metadata.width, metadata.height)
  }
}
#endif
