#if Drawing
import CHeadwayDrawing
import Headway

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

extension Image {
  /// Encodes the image as PNG: lossless, with transparency if the image has any.
  ///
  /// - Returns: The content of the file.
  /// - Throws: ``ImageFileError``, for example if there is not enough memory.
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
  ///   - quality: The quality, from 1 to 100. Higher values result in larger files.
  ///   - background: The color behind transparent pixels.
  /// - Returns: The content of the file.
  /// - Throws: ``ImageFileError``, for example if there is not enough memory, or if the width or height exceeds 65,500
  ///   pixels.
  /// - Precondition: `quality` is from 1 to 100.
  public func jpegBytes(quality: Int = 85, background: Color = .white) throws(ImageFileError) -> [UInt8] {
    try jpegBytes(quality: quality, background: background, comment: nil)
  }

  private func jpegBytes(quality: Int, background: Color, comment: String?) throws(ImageFileError) -> [UInt8] {
    require(1...100 ~= quality, "A JPEG of quality \(quality): use 1 to 100.")
    func byte(_ component: Double) -> UInt8 { UInt8(max(0, min(1, component)) * 255 + 0.5) }
    let under = [byte(background.blue), byte(background.green), byte(background.red)]
    return try encoded(comment) { pixels, bytes, failure in
      headway_jpeg_encode(pixels, Int32(quality), under, &bytes, &failure)
    }
  }

  /// Writes the image to a file, in the format of the file name extension.
  ///
  /// If the extension is unknown, as in `badge.gif`, the format is PNG. The file gets its name only when it is complete
  /// and on disk, so a partial file is never visible. This method blocks the calling thread.
  ///
  /// - Parameters:
  ///   - path: The path of the file. An existing file is replaced. If the path is a device or a pipe, this method
  ///     throws an error.
  ///   - format: The format, regardless of the file name; nil to derive it from the name.
  ///   - quality: The quality of a JPEG, from 1 to 100.
  /// - Throws: ``ImageFileError``.
  public func write(to path: String, format: ImageFileFormat? = nil, quality: Int = 85) throws(ImageFileError) {
    try write(to: path, format: format, quality: quality, comment: nil)
  }

  /// Writes a file as ``write(to:format:quality:)`` does.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The format, regardless of the file name; nil to derive it from the name.
  ///   - quality: The quality of a JPEG.
  ///   - comment: ASCII text to store in the file, which ``ImageComment`` can find.
  ///   - modified: The modification date of the file; nil for now.
  ///   - isCancelled: Called before the file gets its name; return true to discard the file.
  /// - Returns: Whether the file was written; false if `isCancelled` returned true.
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
        error.code, path: path, context: error.context, systemErrorNumber: error.systemErrorNumber,
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
        result == HEADWAY_IMAGE_OUT_OF_MEMORY ? .outOfMemory : .cannotEncode, path: nil, detail: error.message)
    }
    return Array(UnsafeBufferPointer(start: bytes.bytes, count: bytes.count))
  }
}
#endif
