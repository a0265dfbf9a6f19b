#if Drawing
import CHeadwayDrawing

/// Decodes a file in one pass, at its full size or smaller.
struct ImageDecoding {
  let source: ImageSource
  let limits: ImageLimits
  /// The maximum length of the longer side of the result; nil for the full size.
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

  /// Reads only the header.
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
            .unknownFormat, path: source.path, detail: ImageFileFormat.name(ofForeign: signature))
        }
        return try withCancellation { context in
          try body(
            format, opened,
            headway_image_limits(
              pixel_count: UInt64(clamping: limits.maxPixelCount), memory: max(0, limits.maxDecodingMemory),
              scan_count: Int32(clamping: limits.maxScanCount), is_cancelled: Self.askWhetherCancelled,
              context: context))
        }
      }
    } catch let error as RowDecoderError {
      throw ImageFileError.error(error, path: source.path)
    }
  }

  // MARK: Cancelling

  /// Carries the closure to C code.
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

  /// The maximum memory per column: 32 bytes.
  ///
  /// For a PNG with 16 bits, libpng keeps two rows of 8 bytes per pixel. Headway adds a row of 4 bytes per pixel. A
  /// ``RowAverager`` keeps the column and the shares of each pixel, 12 bytes.
  private static let mostBytesPerColumn = 32

  private func decode(_ decoder: consuming some RowDecoder & ~Copyable) throws -> Image {
    let declared = decoder.metadata()
    let (fullWidth, fullHeight) = (declared.width, declared.height)
    // An image with a single row can be a decompression bomb, too.
    guard fullWidth <= limits.maxDecodingMemory / Self.mostBytesPerColumn else {
      throw ImageFileError(.tooLarge, path: source.path, detail: "its rows have \(fullWidth) pixels")
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
      // A decoder that can't reduce the size efficiently returns rows of full size.
      let isFull = rows == (fullWidth, fullHeight)
      var averager = RowAverager(
        into: pixels, sourceWidth: fullWidth, sourceHeight: fullHeight, unit: isFull ? 1 : unit)
      try average(&decoder, rows, &averager)
    }
    try decoder.finish()
    // In a PNG, EXIF data can follow the pixels.
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

  /// Returns the size that fits, with the proportions of the file, and never larger than the file.
  private func resultSize(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    guard let side, max(width, height) > side else { return (width, height) }
    let factor = Double(side) / Double(max(width, height))
    func scaled(_ length: Int) -> Int { max(1, min(side, Int((Double(length) * factor).rounded()))) }
    return (scaled(width), scaled(height))
  }

  /// Returns the reduction factor for the decoder.
  ///
  /// The reduced image is at least 1.5 times as large as the result, so the average has enough pixels.
  ///
  /// The last column and row of a reduced image also average padding beyond the edge of the file. Because this would
  /// affect a narrow image, such an image is reduced less.
  private func denominator(from size: (width: Int, height: Int), to side: Int) -> Int {
    let (length, breadth) = (max(size.width, size.height), min(size.width, size.height))
    guard length > side else { return 1 }
    return [8, 4, 2].first { length * 2 >= side * 3 * $0 && breadth >= Self.leastBreadth * $0 } ?? 1
  }

  /// The minimum number of pixels in the shorter direction of a reduced image.
  private static let leastBreadth = 32
}
#endif
