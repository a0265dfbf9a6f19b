import HeadwayLines

/// Numbers that a column whose type was found may hold, because they mean the same as their text.
///
/// `007`, `+1`, `1e5` and what 64 bits do not hold exactly are no such numbers, nor is anything with blanks around it.
enum ExactNumber {
  /// A decimal fraction.
  struct Fraction {
    let value: Double
    /// How many digits are behind the point.
    let decimals: Int
    /// The last of these is a zero, which a number does not keep.
    let endsWithZero: Bool
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

  /// A decimal fraction of at most 15 digits, or nil.
  ///
  /// It has a point, or an exponent with a sign, as in `2e-3`: `1e5` and `12E4` may be names.
  static func fraction(_ field: UnsafeRawBufferPointer) -> Fraction? {
    let zero = UInt8(ascii: "0")
    var rest = field[...]
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let whole = rest.prefix(while: isDigit)
    rest.removeFirst(whole.count)
    var decimals = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      decimals = rest.prefix(while: isDigit)
      rest.removeFirst(decimals.count)
      guard !decimals.isEmpty else { return nil }
    }
    guard !whole.isEmpty || !decimals.isEmpty, whole.count < 2 || whole.first != zero else { return nil }
    let hasExponent = rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E")
    if hasExponent {
      rest.removeFirst()
      let isSigned = rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+")
      if isSigned { rest.removeFirst() }
      guard isSigned || !decimals.isEmpty, (1...3).contains(rest.count), rest.allSatisfy(isDigit) else { return nil }
    } else {
      guard rest.isEmpty, !decimals.isEmpty else { return nil }
    }
    let digits = whole.count + decimals.count
    let leadingZeros = whole == [zero] || whole.isEmpty ? whole.count + decimals.prefix { $0 == zero }.count : 0
    let trailingZeros = leadingZeros < digits ? decimals.reversed().prefix { $0 == zero }.count : 0
    guard digits - leadingZeros - trailingZeros <= mostDigits, let value = NumberParsing.real(field), value.isFinite
    else { return nil }
    // Zero has no sign, and a number that is too small is not zero.
    if value == 0, field.first == UInt8(ascii: "-") || leadingZeros < digits { return nil }
    return Fraction(value: value, decimals: decimals.count, endsWithZero: decimals.last == zero)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate static func == (left: Self, right: [UInt8]) -> Bool { left.elementsEqual(right) }
}
