#if Drawing
/// What the header of an image file says, which takes almost no time to read.
public struct ImageFileInformation: Sendable, Hashable {
  /// The format, by the content of the file.
  public let format: ImageFileFormat
  /// The width of the upright picture, in pixels.
  public let pixelWidth: Int
  /// The height of the upright picture, in pixels.
  public let pixelHeight: Int

  /// Reads the header of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - limits: How large it may be.
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
