import HeadwayLines

/// Parses the numbers that a column whose type was found can hold, because they mean the same as their text.
///
/// Excluded are `007`, `+1`, `1e5`, numbers with more digits than 64 bits hold, and anything with blanks around it.
enum ExactNumber {
  /// A decimal fraction.
  struct Fraction {
    let value: Double
    /// The number of digits after the decimal point.
    let decimals: Int
    /// Whether the last decimal is a zero, which a number does not keep.
    let endsWithZero: Bool
    /// Whether the number has an exponent, or no digit before the decimal point, and is usually written in another way.
    let hasOtherForm: Bool
  }

  /// A whole number of 64 bits as Swift and SQLite write it, or nil.
  static func integer(_ field: UnsafeRawBufferPointer) -> Int64? {
    let digits = field.first == UInt8(ascii: "-") ? UnsafeRawBufferPointer(rebasing: field.dropFirst()) : field
    guard let first = digits.first, isDigit(first), first != UInt8(ascii: "0") || field.count == 1,
      let last = field.last, isDigit(last)
    else { return nil }
    return NumberParsing.integer(field)
  }

  /// The number of digits that always survive a conversion to `Double` and back (`DBL_DIG`).
  private static let mostDigits = 15

  /// The largest number of digits in the shortest representation of a `Double`.
  private static let mostShortestDigits = 17

  /// A decimal fraction of at most 15 digits, or one of more that is written with the fewest digits that read as the
  /// same `Double`, as many programs write their numbers; otherwise nil.
  ///
  /// A number with an exponent must have a decimal point, or the form that programs write, as in `2e-07`, because
  /// `1e5`, `12E+5` and `5E-3` might be names.
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
      let isNegative = rest.first == UInt8(ascii: "-")
      if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
      guard (1...3).contains(rest.count), rest.allSatisfy(isDigit) else { return nil }
      let exponent = rest.reduce(0) { $0 * 10 + Int($1 - zero) }
      // Programs write one digit before an exponent, and none for numbers near 1.
      let isUsual = whole.count == 1 && whole.first != zero && exponent >= (isNegative ? 5 : 15)
      guard !decimals.isEmpty || isUsual else { return nil }
    } else {
      guard rest.isEmpty, !decimals.isEmpty else { return nil }
    }
    let digits = whole.count + decimals.count
    let leadingZeros = whole == [zero] || whole.isEmpty ? whole.count + decimals.prefix { $0 == zero }.count : 0
    let trailingZeros = leadingZeros < digits ? decimals.reversed().prefix { $0 == zero }.count : 0
    let significant = digits - leadingZeros - trailingZeros
    guard significant <= mostShortestDigits, let value = NumberParsing.real(field), value.isFinite,
      significant <= mostDigits || isShortest(field, of: value)
    else { return nil }
    // Negative zero is not accepted, and neither is a number so small that it reads as zero.
    if value == 0, field.first == UInt8(ascii: "-") || leadingZeros < digits { return nil }
    let isOdd = hasExponent || whole.isEmpty
    return Fraction(
      value: value, decimals: decimals.count, endsWithZero: decimals.last == zero,
      hasOtherForm: isOdd && !value.description.utf8.elementsEqual(field))
  }

  /// The text of a number that has more digits than SQLite writes; nil for any other number.
  static func longText(_ value: Double) -> String? {
    var text = value.description
    return text.withUTF8 { significantDigits(of: UnsafeRawBufferPointer($0)).count } > mostDigits ? text : nil
  }

  private static func isShortest(_ field: UnsafeRawBufferPointer, of value: Double) -> Bool {
    var text = value.description
    return text.withUTF8 { significantDigits(of: UnsafeRawBufferPointer($0)) == significantDigits(of: field) }
  }

  /// The digits before an exponent, without the point and the zeros at both ends.
  private static func significantDigits(of number: UnsafeRawBufferPointer) -> [UInt8] {
    let zero = UInt8(ascii: "0")
    var digits = Array(number.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }.filter(isDigit))
    while digits.last == zero { digits.removeLast() }
    return Array(digits.drop { $0 == zero })
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate static func == (left: Self, right: [UInt8]) -> Bool { left.elementsEqual(right) }
}
