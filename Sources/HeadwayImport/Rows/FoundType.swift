import HeadwayLines

/// The type of a column, by the values met so far: numbers, if each value is one that means the same as its text.
///
/// What is found narrows no more than it must: `integer` widens to `numeric` by a fraction, and everything to `text`.
struct FoundType {
  private var hasIntegers = false
  private var hasFractions = false
  private var hasText = false
  /// Fractions have different numbers of decimals.
  private var hasSeveralScales = false
  private var decimals: Int?
  /// The first fraction that ends with a zero.
  private var valueWithZero: String?
  /// The first value that is a number, but not exactly.
  private var inexactValue: String?
  /// A value is no number.
  private var hasOthers = false

  /// Takes in a value that is not empty.
  mutating func meet(_ value: UnsafeRawBufferPointer) {
    if ExactNumber.integer(value) != nil {
      hasIntegers = true
    } else if let fraction = ExactNumber.fraction(value) {
      hasFractions = true
      if let decimals, decimals != fraction.decimals { hasSeveralScales = true }
      decimals = fraction.decimals
      if fraction.endsWithZero, valueWithZero == nil { valueWithZero = value.shortText }
    } else {
      hasText = true
      guard !hasOthers else { return }
      if Self.isInexactNumber(value) {
        inexactValue = inexactValue ?? value.shortText
      } else {
        hasOthers = true
      }
    }
  }

  /// Whether a value is a number that 64 bits do not hold exactly, or has an exponent; and no identifier, as one with a
  /// zero or a sign before it.
  private static func isInexactNumber(_ value: UnsafeRawBufferPointer) -> Bool {
    guard let first = value.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first) || first == UInt8(ascii: "-"),
      value.contains(where: { ".eE".utf8.contains($0) }), let number = NumberParsing.real(value)
    else { return false }
    return number.isFinite
  }

  /// Text, if nothing was met.
  var type: ColumnType {
    switch (hasIntegers, hasFractions) {
    case _ where hasText: .text
    case (true, false): .integer
    case (false, true): .real
    case (true, true): .numeric
    case (false, false): .text
    }
  }

  /// What should be known of the column: zeros that are not kept, or numbers that are text.
  ///
  /// Where all values have as many decimals, as amounts of money do, the text can be made again.
  ///
  /// - Parameter name: The column.
  /// - Returns: A sentence, or nil.
  func note(on name: String) -> String? {
    switch type {
    case .text:
      guard let inexactValue, !hasOthers else { return nil }
      return "\(name) is text, because of numbers such as \(inexactValue): --column-type '\(name):real' makes them "
        + "comparable"
    case .integer: return nil
    case .real, .numeric:
      guard let valueWithZero, hasSeveralScales || hasIntegers else { return nil }
      return "\(name) has numbers, without the zeros at the end of such as \(valueWithZero): "
        + "--column-type '\(name):text' keeps them"
    }
  }
}

extension ColumnType {
  /// The largest whole number up to which a floating-point number holds each.
  private static let mostWhole: Int64 = 1 << 53

  /// A value as a column of this type, which was found, keeps it; nil if it takes a wider type.
  func exactValue(_ field: UnsafeRawBufferPointer) -> EncodedValue? {
    switch self {
    case .text: return nil
    case .integer: return ExactNumber.integer(field).map { .integer($0) }
    case .real:
      if let fraction = ExactNumber.fraction(field) { return .real(fraction.value) }
      guard let number = ExactNumber.integer(field), (-Self.mostWhole...Self.mostWhole).contains(number) else {
        return nil
      }
      return .real(Double(number))
    case .numeric:
      if let number = ExactNumber.integer(field) { return .integer(number) }
      return ExactNumber.fraction(field).map { .real($0.value) }
    }
  }

  /// The type that takes what this has, and a value that it does not take.
  func widened(for field: UnsafeRawBufferPointer) -> ColumnType {
    self == .integer && ColumnType.numeric.exactValue(field) != nil ? .numeric : .text
  }
}
