#if Drawing
import CHeadwayDrawing

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

extension Image {
  /// Encodes the image as PNG: lossless, with transparency if there is any.
  ///
  /// - Returns: The content of a file.
  /// - Throws: ``ImageFileError`` if there is no memory.
  public func pngBytes() throws(ImageFileError) -> [UInt8] { try pngBytes(comment: nil) }

  private func pngBytes(comment: String?) throws(ImageFileError) -> [UInt8] {
    let hasAlpha = !isOpaque
    return try encoded(comment) { pixels, bytes, failure in
      headway_png_encode(pixels, hasAlpha ? 1 : 0, &bytes, &failure)
    }
  }

  /// Encodes the image as JPEG: smaller, lossy, without transparency.
  ///
  /// - Parameters:
  ///   - quality: From 1 to 100; files grow with it.
  ///   - background: What shines through where the image is transparent.
  /// - Returns: The content of a file.
  /// - Throws: ``ImageFileError`` if there is no memory, or the image has more than 65,500 pixels in a direction.
  /// - Precondition: `quality` is from 1 to 100.
  public func jpegBytes(quality: Int = 85, background: Color = .white) throws(ImageFileError) -> [UInt8] {
    try jpegBytes(quality: quality, background: background, comment: nil)
  }

  private func jpegBytes(quality: Int, background: Color, comment: String?) throws(ImageFileError) -> [UInt8] {
    precondition(1...100 ~= quality, "A JPEG of quality \(quality): use 1 to 100.")
    func byte(_ component: Double) -> UInt8 { UInt8(max(0, min(1, component)) * 255 + 0.5) }
    let under = [byte(background.blue), byte(background.green), byte(background.red)]
    return try encoded(comment) { pixels, bytes, failure in
      headway_jpeg_encode(pixels, Int32(quality), under, &bytes, &failure)
    }
  }

  /// Writes a file, in the format that the ending of its name says; as PNG where that says none, as in `badge.gif`.
  ///
  /// It is written beside its name and moved there when it is complete and on the disk, so nobody ever sees a part of
  /// it. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - path: The path of the file; one that is there is replaced. A device or a pipe is not: that is an error.
  ///   - format: The format, whatever the name says.
  ///   - quality: The quality of a JPEG, from 1 to 100.
  /// - Throws: ``ImageFileError``.
  public func write(to path: String, format: ImageFileFormat? = nil, quality: Int = 85) throws(ImageFileError) {
    try write(to: path, format: format, quality: quality, comment: nil)
  }

  /// Writes a file as ``write(to:format:quality:)`` does.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The format, whatever the name says.
  ///   - quality: The quality of a JPEG.
  ///   - comment: Text in ASCII that the file carries along: ``ImageComment`` finds it.
  ///   - modified: The time of modification that the file gets; nil for now.
  ///   - isCancelled: Asked before the file gets its name.
  /// - Returns: Whether there is a file now: not if `isCancelled` said so.
  /// - Throws: ``ImageFileError``.
  @discardableResult
  package func write(
    to path: String, format: ImageFileFormat? = nil, quality: Int, comment: String?, modified: timespec? = nil,
    isCancelled: () -> Bool = { false }
  ) throws(ImageFileError) -> Bool {
    do {
      let bytes =
        switch format ?? ImageFileFormat(pathExtensionOf: path) ?? .png {
        case .jpeg: try jpegBytes(quality: quality, background: .white, comment: comment)
        case .png: try pngBytes(comment: comment)
        }
      return try writeReplacing(path, bytes, modified: modified, isCancelled: isCancelled)
    } catch {
      throw ImageFileError(
        error.code, path: path, context: error.context, errorNumber: error.errorNumber,
        underlyingError: error.underlyingError)
    }
  }

  private func encoded(
    _ comment: String?,
    _ encode: (headway_image_pixels, inout headway_image_bytes, inout headway_image_failure) -> headway_image_result
  ) throws(ImageFileError) -> [UInt8] {
    var (bytes, failure) = (headway_image_bytes(), headway_image_failure())
    let result = (colorProfile ?? []).withUnsafeBufferPointer { profile in
      (comment ?? "").withCString { text in
        let pixels = headway_image_pixels(
          bytes: storage.bytes.assumingMemoryBound(to: UInt8.self).baseAddress, width: UInt32(pixelWidth),
          height: UInt32(pixelHeight), bytes_per_row: storage.bytesPerRow,
          profile: profile.isEmpty ? nil : profile.baseAddress, profile_count: profile.count,
          comment: comment == nil ? nil : text)
        return encode(pixels, &bytes, &failure)
      }
    }
    withExtendedLifetime(storage) {}
    defer { free(bytes.bytes) }
    if let error = withUnsafePointer(to: failure, { RowDecoderError(result, $0) }) {
      throw ImageFileError(
        result == HEADWAY_IMAGE_OUT_OF_MEMORY ? .outOfMemory : .cannotEncode, path: nil, context: error.message)
    }
    return Array(UnsafeBufferPointer(start: bytes.bytes, count: bytes.count))
  }
}
#endif
