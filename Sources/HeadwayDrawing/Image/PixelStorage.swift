#if Drawing
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Memory for pixels, rows without gaps: 32-bit words as cairo has them, premultiplied, alpha in the highest byte.
///
/// Sendable, since it is written by the thread that made it alone, and only before anybody else has it.
final class PixelStorage: @unchecked Sendable {
  let width: Int
  let height: Int
  let bytes: UnsafeMutableRawBufferPointer

  var bytesPerRow: Int { width * 4 }

  /// Takes memory, in which all is transparent; nil if there is none.
  init?(width: Int, height: Int) {
    let (count, overflows) = width.multipliedReportingOverflow(by: 4 * height)
    // The system gives zeroed pages, which it takes from nowhere until they are written.
    guard !overflows, count > 0, let memory = calloc(count, 1) else { return nil }
    (self.width, self.height) = (width, height)
    bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
  }

  deinit { free(bytes.baseAddress) }

  /// A row, to be written or read.
  func row(_ y: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: bytes[y * bytesPerRow..<(y + 1) * bytesPerRow])
  }

  subscript(x: Int, y: Int) -> UInt32 {
    get { bytes.load(fromByteOffset: y * bytesPerRow + x * 4, as: UInt32.self) }
    set { bytes.storeBytes(of: newValue, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self) }
  }
}
#endif
