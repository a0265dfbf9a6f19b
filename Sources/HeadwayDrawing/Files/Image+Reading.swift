#if Drawing
import Headway

extension Image {
  /// Reads a JPEG or PNG file at its full size.
  ///
  /// The format is determined from the content of the file, not from its name. The image is rotated upright according
  /// to its EXIF data. CMYK, as used in print, is converted to RGB without the color profile. Channels with 16 bits are
  /// reduced to 8.
  ///
  /// This initializer blocks the calling thread, so call it in an operation.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - limits: The limits for the file.
  /// - Throws: ``ImageFileError``.
  public init(contentsOf path: String, limits: ImageLimits = .default) throws {
    self = try ImageDecoding(source: .file(path), limits: limits, side: nil, isCancelled: { false }).run()
  }

  /// Reads a JPEG or PNG file that is in memory.
  ///
  /// See ``init(contentsOf:limits:)``.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - limits: The limits for the file.
  /// - Throws: ``ImageFileError``.
  public init(bytes: [UInt8], limits: ImageLimits = .default) throws {
    self = try ImageDecoding(source: .bytes(bytes), limits: limits, side: nil, isCancelled: { false }).run()
  }

  /// Reads a JPEG or PNG file at a reduced size.
  ///
  /// This initializer needs neither the time nor the memory of the full size. A JPEG is decoded at one eighth, one
  /// fourth, or half of its size, whichever is large enough. For all other files, only one row at a time is in memory,
  /// except for progressive JPEG and interlaced PNG. An image that is small enough keeps its size.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - side: The maximum length of the longer side of the result, in pixels.
  ///   - limits: The limits for the file.
  ///   - isCancelled: Called on the calling thread for each row; return true to stop. In a drawing, pass the context's
  ///     ``DrawingContext/isCancelled``.
  /// - Throws: ``ImageFileError``; `CancellationError` if `isCancelled` returns true.
  /// - Precondition: `side` is above 0.
  public init(
    thumbnailOf path: String, fitting side: Int, limits: ImageLimits = .default,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    try self.init(thumbnailOf: .file(path), fitting: side, limits: limits, isCancelled: isCancelled)
  }

  /// Reads a JPEG or PNG file that is in memory at a reduced size.
  ///
  /// See ``init(thumbnailOf:fitting:limits:isCancelled:)``.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - side: The maximum length of the longer side of the result, in pixels.
  ///   - limits: The limits for the file.
  /// - Throws: ``ImageFileError``.
  /// - Precondition: `side` is above 0.
  public init(thumbnailOf bytes: [UInt8], fitting side: Int, limits: ImageLimits = .default) throws {
    try self.init(thumbnailOf: .bytes(bytes), fitting: side, limits: limits)
  }

  init(
    thumbnailOf source: ImageSource, fitting side: Int, limits: ImageLimits,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    require(side > 0, "A thumbnail fitting \(side) pixels: use 1 or more.")
    self = try ImageDecoding(source: source, limits: limits, side: side, isCancelled: isCancelled).run()
  }
}
#endif
