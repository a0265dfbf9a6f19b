#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Parses numbers in the bytes of a field.
///
/// Blanks before and after a number are allowed; nothing else is.
package enum NumberParsing {
  /// Returns an integer of 64 bits, or nil.
  package static func integer(_ field: UnsafeRawBufferPointer) -> Int64? {
    let bytes = trimmed(field)
    var position = 0
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { position = 1 }
    guard position < bytes.count else { return nil }
    var number: Int64 = 0
    while position < bytes.count {
      let digit = bytes[position] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      let (tens, tooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflow) =
        isNegative ? tens.subtractingReportingOverflow(Int64(digit)) : tens.addingReportingOverflow(Int64(digit))
      if tooLarge || overflow { return nil }
      number = sum
      position += 1
    }
    return number
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  /// Returns a decimal number, or nil.
  ///
  /// Up to 15 digits, with up to 22 of them after the decimal point, are exact as an integer. The power of ten is also
  /// exact. A single division then rounds correctly (Clinger, “How to read floating point numbers accurately”, 1990).
  /// All other numbers are passed to `strtod`.
  package static func real(_ field: UnsafeRawBufferPointer) -> Double? {
    let bytes = trimmed(field)
    guard !bytes.isEmpty else { return nil }
    var position = 0
    let isNegative = bytes[0] == UInt8(ascii: "-")
    if isNegative || bytes[0] == UInt8(ascii: "+") { position = 1 }
    var mantissa: UInt64 = 0
    var digits = 0
    var decimals = 0
    var hasPoint = false
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else {
        let digit = byte &- UInt8(ascii: "0")
        guard digit <= 9, digits < 15 else { return slowReal(bytes) }
        mantissa = mantissa * 10 + UInt64(digit)
        digits += 1
        if hasPoint { decimals += 1 }
      }
      position += 1
    }
    guard digits > 0 else { return nil }
    let number = Double(mantissa) / powersOfTen[decimals]
    return isNegative ? -number : number
  }

  /// Calls `strtod` on a copy.
  ///
  /// Only decimal notation is passed to it, because it would also accept hexadecimal numbers and names.
  private static func slowReal(_ bytes: UnsafeRawBufferPointer) -> Double? {
    let isDecimal = bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
      default: false
      }
    }
    guard isDecimal, bytes.count < 400 else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: bytes.count + 1, alignment: 1) { copy in
      copy.copyMemory(from: bytes)
      copy[bytes.count] = 0
      guard let start = copy.assumingMemoryBound(to: CChar.self).baseAddress else { return nil }
      var end: UnsafeMutablePointer<CChar>?
      let number = strtod(start, &end)
      return end == start + bytes.count && number.isFinite ? number : nil
    }
  }

  private static func trimmed(_ field: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    // The characters that SQLite skips when it reads a number: tab through carriage return, and the space.
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
    var (start, end) = (0, field.count)
    while start < end, isBlank(field[start]) { start += 1 }
    while end > start, isBlank(field[end - 1]) { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: field[start..<end])
  }
}
