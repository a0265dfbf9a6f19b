#if Drawing
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Memory for pixels, in rows without gaps: 32-bit words in cairo's format, premultiplied, alpha in the highest byte.
///
/// Sendable, because only the creating thread writes to the memory, and only before it shares it.
///
/// See `Docs/decisions/0027-drawing.md`.
final class PixelStorage: @unchecked Sendable {
  let width: Int
  let height: Int
  let bytes: UnsafeMutableRawBufferPointer

  var bytesPerRow: Int { width * 4 }

  /// Allocates memory for transparent pixels; nil if there is not enough.
  init?(width: Int, height: Int) {
    let (count, overflows) = width.multipliedReportingOverflow(by: 4 * height)
    // The system returns zeroed pages, which use no physical memory until they are written.
    guard !overflows, count > 0, let memory = calloc(count, 1) else { return nil }
    (self.width, self.height) = (width, height)
    bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
  }

  deinit { free(bytes.baseAddress) }

  /// Returns a row, for writing or reading.
  func row(_ y: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: bytes[y * bytesPerRow..<(y + 1) * bytesPerRow])
  }

  subscript(x: Int, y: Int) -> UInt32 {
    get { bytes.load(fromByteOffset: y * bytesPerRow + x * 4, as: UInt32.self) }
    set { bytes.storeBytes(of: newValue, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self) }
  }
}
#endif
