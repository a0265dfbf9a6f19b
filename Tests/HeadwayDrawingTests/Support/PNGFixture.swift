#if Drawing
import CPNG
import Foundation
import HeadwayDrawing

/// PNG files of kinds that the library reads but does not write, built chunk by chunk.
enum PNGFixture {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private final class Output { var bytes: [UInt8] = [] }

  /// Encodes rows of samples.
  static func encode(
    width: Int, height: Int, depth: Int32 = 8, colorType: Int32 = PNG_COLOR_TYPE_RGBA, isInterlaced: Bool = false,
    palette: [(UInt8, UInt8, UInt8)] = [], paletteAlpha: [UInt8] = [], row: (Int) -> [UInt8]
  ) -> [UInt8] {
    let output = Output()
    // Errors terminate the process: none are expected.
    var png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nil, nil, nil)
    var info = png_create_info_struct(png)
    png_set_write_fn(
      png, Unmanaged.passUnretained(output).toOpaque(),
      { png, bytes, count in
        let output = Unmanaged<Output>.fromOpaque(png_get_io_ptr(png)!).takeUnretainedValue()
        output.bytes += UnsafeBufferPointer(start: bytes, count: count)
      }, { _ in })
    png_set_IHDR(
      png, info, UInt32(width), UInt32(height), depth, colorType, isInterlaced ? PNG_INTERLACE_ADAM7 : 0, 0, 0)
    if !palette.isEmpty {
      png_set_PLTE(
        png, info, palette.map { png_color(red: $0.0, green: $0.1, blue: $0.2) }, Int32(palette.count))
      if !paletteAlpha.isEmpty { png_set_tRNS(png, info, paletteAlpha, Int32(paletteAlpha.count), nil) }
    }
    png_write_info(png, info)
    let passes = png_set_interlace_handling(png)
    for _ in 0..<passes {
      for y in 0..<height { png_write_row(png, row(y)) }
    }
    png_write_end(png, info)
    png_destroy_write_struct(&png, &info)
    return output.bytes
  }

  /// Encodes a picture with red, green, blue and alpha.
  static func encode(_ image: Image, isInterlaced: Bool) -> [UInt8] {
    encode(width: image.pixelWidth, height: image.pixelHeight, isInterlaced: isInterlaced) { y in
      (0..<image.pixelWidth).flatMap { x in
        let color = image.color(x: x, y: y)
        return [color.red, color.green, color.blue, color.opacity].map { UInt8(($0 * 255).rounded()) }
      }
    }
  }

  // MARK: Chunks

  static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let checked = Array(name.utf8) + content
    return bigEndian(UInt32(content.count)) + checked + bigEndian(checksum(checked))
  }

  /// A file that declares a size but has only the beginning of its pixels.
  static func declaring(width: UInt32, height: UInt32) -> [UInt8] {
    let header = bigEndian(width) + bigEndian(height) + [8, 6, 0, 0, 0]
    return signature + chunk("IHDR", header) + chunk("IDAT", [0x78, 0x9C, 0x63, 0, 0]) + chunk("IEND", [])
  }

  /// Inserts chunks behind the header of a file.
  static func inserting(_ chunks: [UInt8], into bytes: [UInt8]) -> [UInt8] {
    let endOfHeader = 8 + 25
    return Array(bytes[..<endOfHeader]) + chunks + bytes[endOfHeader...]
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

  /// CRC-32, as RFC 1952 defines it.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in (sum >> 1) ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
  }
}
#endif
