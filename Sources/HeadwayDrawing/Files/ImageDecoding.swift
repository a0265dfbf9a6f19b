#if Drawing
import CHeadwayDrawing

/// Decodes a file in one pass, at its size or smaller.
struct ImageDecoding {
  let source: ImageSource
  let limits: ImageLimits
  /// The longer side of the result at most; nil for the size of the file.
  let side: Int?
  let isCancelled: () -> Bool

  /// - Throws: ``ImageFileError``, or `CancellationError`.
  func run() throws -> Image {
    try opened { format, source, limits in
      switch format {
      case .jpeg: try decode(JPEGRowDecoder(source, limits))
      case .png: try decode(PNGRowDecoder(source, limits))
      }
    }
  }

  /// Reads the header alone.
  ///
  /// - Throws: ``ImageFileError``.
  func readHeader() throws -> (format: ImageFileFormat, metadata: ImageMetadata) {
    try opened { format, source, limits in
      switch format {
      case .jpeg: try (format, JPEGRowDecoder(source, limits).metadata())
      case .png: try (format, PNGRowDecoder(source, limits).metadata())
      }
    }
  }

  private func opened<Result>(
    _ body: (ImageFileFormat, headway_image_source, headway_image_limits) throws -> Result
  ) throws -> Result {
    do {
      return try source.withOpened { signature, opened in
        guard let format = ImageFileFormat(signature: signature) else {
          throw ImageFileError(
            .unknownFormat, path: source.path, context: ImageFileFormat.name(ofForeign: signature))
        }
        return try withCancellation { context in
          try body(
            format, opened,
            headway_image_limits(
              pixel_count: UInt64(clamping: limits.maximumPixelCount), memory: max(0, limits.maximumDecodingMemory),
              scan_count: Int32(clamping: limits.maximumScanCount), is_cancelled: Self.askWhetherCancelled,
              context: context))
        }
      }
    } catch let error as RowDecoderError {
      throw ImageFileError.error(error, path: source.path)
    }
  }

  // MARK: Cancelling

  /// What C asks.
  private final class Cancellation {
    let isCancelled: () -> Bool
    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
  }

  private static let askWhetherCancelled: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
    guard let context else { return 0 }
    return Unmanaged<Cancellation>.fromOpaque(context).takeUnretainedValue().isCancelled() ? 1 : 0
  }

  private func withCancellation<Result>(_ body: (UnsafeMutableRawPointer) throws -> Result) rethrows -> Result {
    let cancellation = Cancellation(isCancelled)
    defer { withExtendedLifetime(cancellation) {} }
    return try body(Unmanaged.passUnretained(cancellation).toOpaque())
  }

  // MARK: Rows

  /// What rows take for each pixel: of PNG with 16 bits libpng keeps two of 8 bytes, then there is ours of 4, and the
  /// places and shares of a ``RowAverager``; and some room.
  private static let mostBytesPerColumn = 32

  private func decode(_ decoder: consuming some RowDecoder & ~Copyable) throws -> Image {
    let declared = decoder.metadata()
    let (fullWidth, fullHeight) = (declared.width, declared.height)
    // A picture of one row is a bomb too.
    guard fullWidth <= limits.maximumDecodingMemory / Self.mostBytesPerColumn else {
      throw ImageFileError(.tooLarge, path: source.path, context: "rows of \(fullWidth) pixels")
    }
    let (width, height) = resultSize(fullWidth, fullHeight)
    let unit = denominator(from: (fullWidth, fullHeight), to: max(width, height))
    let rows = try decoder.start(reducedBy: unit)
    guard let pixels = PixelStorage(width: width, height: height) else {
      throw ImageFileError(.outOfMemory, path: source.path)
    }
    if rows == (width, height) {
      for y in 0..<height {
        if isCancelled() { throw CancellationError() }
        try decoder.readRow(into: pixels.row(y))
      }
    } else {
      // A decoder without a fast way to a reduced size gives the full one.
      let isFull = rows == (fullWidth, fullHeight)
      var averager = RowAverager(
        into: pixels, sourceWidth: fullWidth, sourceHeight: fullHeight, unit: isFull ? 1 : unit)
      try average(&decoder, rows, &averager)
    }
    try decoder.finish()
    // Of a PNG, EXIF data may come behind the pixels.
    let metadata = decoder.metadata()
    guard let upright = metadata.orientation.applied(to: pixels) else {
      throw ImageFileError(.outOfMemory, path: source.path)
    }
    return Image(upright, colorProfile: metadata.colorProfile)
  }

  private func average(
    _ decoder: inout some RowDecoder & ~Copyable, _ rows: (width: Int, height: Int),
    _ averager: inout RowAverager
  ) throws {
    guard let row = PixelStorage(width: rows.width, height: 1) else {
      throw ImageFileError(.outOfMemory, path: source.path)
    }
    let bytes = row.row(0)
    for _ in 0..<rows.height {
      if isCancelled() { throw CancellationError() }
      try decoder.readRow(into: bytes)
      averager.add(UnsafePointer(bytes.assumingMemoryBound(to: UInt32.self).baseAddress!))
    }
    withExtendedLifetime(row) {}
  }

  /// The size that fits, in the proportions of the file, never larger than it.
  private func resultSize(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    guard let side, max(width, height) > side else { return (width, height) }
    let factor = Double(side) / Double(max(width, height))
    func scaled(_ length: Int) -> Int { max(1, min(side, Int((Double(length) * factor).rounded()))) }
    return (scaled(width), scaled(height))
  }

  /// By how much a decoder may reduce: what is left is at least 1.5 times the result, for which the mean then has
  /// enough to go by.
  ///
  /// The last column and row of a reduced picture are means over what a file has beyond its edge, too. So a narrow
  /// picture, which that would change, is reduced less.
  private func denominator(from size: (width: Int, height: Int), to side: Int) -> Int {
    let (length, breadth) = (max(size.width, size.height), min(size.width, size.height))
    guard length > side else { return 1 }
    return [8, 4, 2].first { length * 2 >= side * 3 * $0 && breadth >= Self.leastBreadth * $0 } ?? 1
  }

  /// How many pixels a reduced picture has at least in its shorter direction.
  private static let leastBreadth = 32
}
#endif
