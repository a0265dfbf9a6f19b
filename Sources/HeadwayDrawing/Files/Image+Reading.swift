#if Drawing
extension Image {
  /// Reads a JPEG or PNG file in its size.
  ///
  /// What kind of file it is, its content says, not its name. It is turned upright as its EXIF data says. Of CMYK, as
  /// printers use it, RGB is computed without the profile. 16 bits a channel become 8.
  ///
  /// Blocks the calling thread: read on a queue.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - limits: How large it may be.
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
  ///   - limits: How large it may be.
  /// - Throws: ``ImageFileError``.
  public init(bytes: [UInt8], limits: ImageLimits = .default) throws {
    self = try ImageDecoding(source: .bytes(bytes), limits: limits, side: nil, isCancelled: { false }).run()
  }

  /// Reads a JPEG or PNG file at a reduced size.
  ///
  /// Takes neither the time nor the memory of the full size: a JPEG is decoded at the eighth, fourth or half that is
  /// large enough, and of everything else only a row is in memory. Images that are small enough keep their size.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - side: The longer side of the result, in pixels.
  ///   - limits: How large the file may be.
  ///   - isCancelled: Asked at each row whether to stop, on the calling thread: a drawing gives its context's
  ///     ``DrawingContext/isCancelled``.
  /// - Throws: ``ImageFileError``; `CancellationError` if `isCancelled` says so.
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
  ///   - side: The longer side of the result, in pixels.
  ///   - limits: How large the file may be.
  /// - Throws: ``ImageFileError``.
  /// - Precondition: `side` is above 0.
  public init(thumbnailOf bytes: [UInt8], fitting side: Int, limits: ImageLimits = .default) throws {
    try self.init(thumbnailOf: .bytes(bytes), fitting: side, limits: limits)
  }

  init(
    thumbnailOf source: ImageSource, fitting side: Int, limits: ImageLimits,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    precondition(side > 0, "A thumbnail fitting \(side) pixels: use 1 or more.")
    self = try ImageDecoding(source: source, limits: limits, side: side, isCancelled: isCancelled).run()
  }
}
#endif
