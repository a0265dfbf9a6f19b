import HeadwayLines

/// Numbers whose text can be made again from them: what a column whose type was found may hold.
///
/// `007`, `+1`, `1.10`, `1e5` and what 64 bits do not hold are no such numbers, nor is anything with blanks around it.
enum ExactNumber {
  /// A decimal fraction.
  struct Fraction {
    let value: Double
    /// It ends with `.0`, which an integer would not.
    let isWhole: Bool
  }

  /// A whole number of 64 bits as Swift and SQLite write it, or nil.
  static func integer(_ field: UnsafeRawBufferPointer) -> Int64? {
    let digits = field.first == UInt8(ascii: "-") ? UnsafeRawBufferPointer(rebasing: field.dropFirst()) : field
    guard let first = digits.first, isDigit(first), first != UInt8(ascii: "0") || field.count == 1,
      let last = field.last, isDigit(last)
    else { return nil }
    return NumberParsing.integer(field)
  }

  /// The digits that survive the way to a `Double` and back, whatever they are (`DBL_DIG`).
  private static let mostDigits = 15
  /// Below, SQLite's `%!.15g` writes an exponent.
  private static let smallest = 0.0001

  /// A decimal fraction as SQLite's `printf('%!.15g', …)` writes it, or nil.
  static func fraction(_ field: UnsafeRawBufferPointer) -> Fraction? {
    let digits = field.first == UInt8(ascii: "-") ? UnsafeRawBufferPointer(rebasing: field.dropFirst()) : field
    guard digits.count <= mostDigits + 1, let point = digits.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    let (whole, decimals) = (digits[..<point], digits[(point + 1)...])
    guard let first = whole.first, let last = decimals.last, whole.allSatisfy(isDigit), decimals.allSatisfy(isDigit),
      first != UInt8(ascii: "0") || whole.count == 1, last != UInt8(ascii: "0") || decimals.count == 1,
      let value = NumberParsing.real(field), abs(value) >= smallest || (value == 0 && field.count == digits.count)
    else { return nil }
    return Fraction(value: value, isWhole: last == UInt8(ascii: "0"))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
