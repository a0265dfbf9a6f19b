/// The type of a column, by the values met so far: the narrowest that keeps the text of each.
///
/// What is found narrows no more than it must: `integer` widens to `numeric` by a fraction, and everything to `text`.
struct FoundType {
  private var hasIntegers = false
  private var hasFractions = false
  private var hasWholeFractions = false
  private var hasText = false

  /// Takes in a value that is not empty.
  mutating func meet(_ value: UnsafeRawBufferPointer) {
    guard !hasText else { return }
    if ExactNumber.integer(value) != nil {
      hasIntegers = true
    } else if let fraction = ExactNumber.fraction(value) {
      hasFractions = true
      if fraction.isWhole { hasWholeFractions = true }
    } else {
      hasText = true
    }
  }

  /// Text, if nothing was met.
  var type: ColumnType {
    switch (hasIntegers, hasFractions) {
    case _ where hasText: .text
    case (true, false): .integer
    case (false, true): .real
    // As a number, 1.0 is the same as 1.
    case (true, true): hasWholeFractions ? .text : .numeric
    case (false, false): .text
    }
  }
}

extension ColumnType {
  /// A value as a column of this type, which was found, keeps it; nil if it takes a wider type.
  func exactValue(_ field: UnsafeRawBufferPointer) -> EncodedValue? {
    switch self {
    case .text: return nil
    case .integer: return ExactNumber.integer(field).map { .integer($0) }
    case .real: return ExactNumber.fraction(field).map { .real($0.value) }
    case .numeric:
      if let number = ExactNumber.integer(field) { return .integer(number) }
      guard let fraction = ExactNumber.fraction(field), !fraction.isWhole else { return nil }
      return .real(fraction.value)
    }
  }

  /// The type that takes what this has, and a value that it does not take.
  func widened(for field: UnsafeRawBufferPointer) -> ColumnType {
    self == .integer && ColumnType.numeric.exactValue(field) != nil ? .numeric : .text
  }
}
