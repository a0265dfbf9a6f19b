#if Drawing
import CHeadwayDrawing

/// Decodes a file row by row.
protocol RowDecoder: ~Copyable {
  /// The header of the file.
  var header: headway_image_header { get }

  /// Starts decoding, at a reduced size if the format can reduce efficiently; returns the size of the rows.
  mutating func start(reducedBy denominator: Int) throws(RowDecoderError) -> (width: Int, height: Int)

  /// Decodes the next row.
  mutating func readRow(into row: UnsafeMutableRawBufferPointer) throws(RowDecoderError)

  /// Reads the data after the last row.
  mutating func finish() throws(RowDecoderError)
}

/// The metadata of the pixels in a file.
struct ImageMetadata {
  let width: Int
  let height: Int
  let orientation: ImageOrientation
  let colorProfile: [UInt8]?
}

extension RowDecoder where Self: ~Copyable {
  /// Copies the data in the header, which points into the decoder.
  borrowing func metadata() -> ImageMetadata {
    let header = header
    return ImageMetadata(
      width: Int(header.width), height: Int(header.height),
      orientation: header.exif.map {
        ImageOrientation(exif: UnsafeRawBufferPointer(start: $0, count: header.exif_count))
      } ?? .upright,
      colorProfile: header.profile.map { Array(UnsafeBufferPointer(start: $0, count: header.profile_count)) })
  }
}

/// A failure that a decoder reports.
struct RowDecoderError: Error {
  let result: headway_image_result
  let message: String
  let systemError: Int32

  /// Creates an error from a result; nil if nothing failed.
  init?(_ result: headway_image_result, _ failure: @autoclosure () -> UnsafePointer<headway_image_failure>?) {
    guard result != HEADWAY_IMAGE_OK else { return nil }
    self.result = result
    var failure = failure()?.pointee ?? headway_image_failure()
    message = withUnsafeBytes(of: &failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    systemError = failure.system_error
  }
}

extension ImageFileError {
  /// - Returns: A `CancellationError`, or the reason why the file can't be decoded.
  static func error(_ error: RowDecoderError, path: String?) -> any Error {
    if error.result == HEADWAY_IMAGE_CANCELLED { return CancellationError() }
    if error.result == HEADWAY_IMAGE_READ_FAILED {
      return ImageFileError(errorNumber: error.systemError, path: path ?? "")
    }
    let code: Code =
      switch error.result {
      case HEADWAY_IMAGE_TRUNCATED: .truncated
      case HEADWAY_IMAGE_UNSUPPORTED: .unsupported
      case HEADWAY_IMAGE_TOO_LARGE: .tooLarge
      case HEADWAY_IMAGE_OUT_OF_MEMORY: .outOfMemory
      default: .corrupt
      }
    return ImageFileError(code, path: path, detail: error.message)
  }
}

struct JPEGRowDecoder: RowDecoder, ~Copyable {
  private(set) var header = headway_image_header()
  private let decoder: OpaquePointer?

  init(_ source: headway_image_source, _ limits: headway_image_limits) throws(RowDecoderError) {
    var decoder: OpaquePointer?
    let result = headway_jpeg_open(&decoder, source, limits, &header)
    let error = RowDecoderError(result, decoder.map { headway_jpeg_failure($0) })
    self.decoder = decoder
    if let error { throw error }
  }

  deinit { headway_jpeg_destroy(decoder) }

  mutating func start(reducedBy denominator: Int) throws(RowDecoderError) -> (width: Int, height: Int) {
    var (width, height) = (UInt32(0), UInt32(0))
    try check(headway_jpeg_start(decoder, UInt32(denominator), &width, &height))
    return (Int(width), Int(height))
  }

  mutating func readRow(into row: UnsafeMutableRawBufferPointer) throws(RowDecoderError) {
    try check(headway_jpeg_read_row(decoder, row.assumingMemoryBound(to: UInt8.self).baseAddress))
  }

  mutating func finish() throws(RowDecoderError) { try check(headway_jpeg_finish(decoder)) }

  private func check(_ result: headway_image_result) throws(RowDecoderError) {
    if let error = RowDecoderError(result, headway_jpeg_failure(decoder)) { throw error }
  }
}

struct PNGRowDecoder: RowDecoder, ~Copyable {
  private(set) var header = headway_image_header()
  private let decoder: OpaquePointer?

  init(_ source: headway_image_source, _ limits: headway_image_limits) throws(RowDecoderError) {
    var decoder: OpaquePointer?
    let result = headway_png_open(&decoder, source, limits, &header)
    let error = RowDecoderError(result, decoder.map { headway_png_failure($0) })
    self.decoder = decoder
    if let error { throw error }
  }

  deinit { headway_png_destroy(decoder) }

  mutating func start(reducedBy denominator: Int) -> (width: Int, height: Int) {
    (Int(header.width), Int(header.height))
  }

  mutating func readRow(into row: UnsafeMutableRawBufferPointer) throws(RowDecoderError) {
    try check(headway_png_read_row(decoder, row.assumingMemoryBound(to: UInt8.self).baseAddress))
  }

  mutating func finish() throws(RowDecoderError) { try check(headway_png_finish(decoder, &header)) }

  private func check(_ result: headway_image_result) throws(RowDecoderError) {
    if let error = RowDecoderError(result, headway_png_failure(decoder)) { throw error }
  }
}
#endif
