#if Drawing
import CJPEG
import Foundation
import HeadwayDrawing

/// JPEG files of kinds that the library reads but does not write.
enum JPEGFixture {
  enum Kind: CaseIterable { case baseline, progressive, gray, cmyk, ycck, plainCMYK, restarts }

  /// Encodes a picture; inks are the values that produce its colors.
  static func encode(_ image: Image, _ kind: Kind, quality: Int32 = 95) -> [UInt8] {
    let codec = UnsafeMutablePointer<jpeg_compress_struct>.allocate(capacity: 1)
    let manager = UnsafeMutablePointer<jpeg_error_mgr>.allocate(capacity: 1)
    defer {
      codec.deallocate()
      manager.deallocate()
    }
    // Errors terminate the process: none are expected.
    codec.pointee.err = jpeg_std_error(manager)
    jpeg_CreateCompress(codec, JPEG_LIB_VERSION, MemoryLayout<jpeg_compress_struct>.size)
    var (bytes, count) = (UnsafeMutablePointer<UInt8>?.none, UInt(0))
    jpeg_mem_dest(codec, &bytes, &count)
    let components = [.cmyk, .ycck, .plainCMYK].contains(kind) ? 4 : kind == .gray ? 1 : 3
    codec.pointee.image_width = UInt32(image.pixelWidth)
    codec.pointee.image_height = UInt32(image.pixelHeight)
    codec.pointee.input_components = Int32(components)
    codec.pointee.in_color_space = components == 4 ? JCS_CMYK : components == 1 ? JCS_GRAYSCALE : JCS_RGB
    jpeg_set_defaults(codec)
    jpeg_set_quality(codec, quality, 1)
    switch kind {
    case .progressive: jpeg_simple_progression(codec)
    case .ycck: jpeg_set_colorspace(codec, JCS_YCCK)
    case .plainCMYK: codec.pointee.write_Adobe_marker = 0
    case .restarts: codec.pointee.restart_in_rows = 1
    case .baseline, .gray, .cmyk: break
    }
    jpeg_start_compress(codec, 1)
    for y in 0..<image.pixelHeight {
      var row = (0..<image.pixelWidth).flatMap { x in samples(image.color(x: x, y: y), kind) }
      row.withUnsafeMutableBufferPointer { row in
        var rows = row.baseAddress
        _ = jpeg_write_scanlines(codec, &rows, 1)
      }
    }
    jpeg_finish_compress(codec)
    jpeg_destroy_compress(codec)
    defer { free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  private static func samples(_ color: Color, _ kind: Kind) -> [UInt8] {
    let light = [color.red, color.green, color.blue].map { UInt8(($0 * 255).rounded()) }
    switch kind {
    case .baseline, .progressive, .restarts: return light
    case .gray: return [UInt8((0.299 * color.red + 0.587 * color.green + 0.114 * color.blue) * 255)]
    // As Adobe's programs write them: how much light each ink transmits, with 0 for black.
    case .cmyk, .ycck: return light + [255]
    case .plainCMYK: return light.map { 255 - $0 } + [0]
    }
  }

  /// Inserts an EXIF segment with an orientation at the beginning of a file.
  static func oriented(_ bytes: [UInt8], _ orientation: UInt8, isLittleEndian: Bool = true) -> [UInt8] {
    let content = Array("Exif\0\0".utf8) + exif(orientation, isLittleEndian: isLittleEndian)
    let length = content.count + 2
    return Array(bytes[..<2]) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + content + bytes[2...]
  }

  /// EXIF data that contains only an orientation.
  static func exif(_ orientation: UInt8, isLittleEndian: Bool = true) -> [UInt8] {
    isLittleEndian
      ? Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
      : Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
  }

  /// Changes the size that a file declares.
  static func declaring(_ bytes: [UInt8], width: Int, height: Int) -> [UInt8] {
    var bytes = bytes
    for index in bytes.indices.dropLast(9) where bytes[index] == 0xFF && [0xC0, 0xC2].contains(bytes[index + 1]) {
      bytes.replaceSubrange(
        index + 5..<index + 9, with: [height >> 8, height, width >> 8, width].map { UInt8(truncatingIfNeeded: $0) })
      return bytes
    }
    return bytes
  }
}
#endif
