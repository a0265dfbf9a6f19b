import HeadwayLines

/// The type of a column, based on the values met so far.
///
/// It is a number type if each value is a number that means the same as its text.
///
/// The type widens no more than necessary: from `integer` to `numeric` when a fraction is met, and from any type to
/// `text`.
///
/// See `Docs/decisions/0023-types-and-ragged-rows.md`.
struct InferredType {
  private var hasIntegers = false
  private var hasFractions = false
  private var hasText = false
  /// Fractions have different numbers of decimal places.
  private var hasSeveralScales = false
  private var decimals: Int?
  /// The first fraction that ends in zero.
  private var valueWithZero: String?
  /// The first fraction that is usually written in another way.
  private var valueInOtherForm: String?
  /// The first value that is a number, but not an exact one.
  private var inexactValue: String?
  /// A value is not a number.
  private var hasOthers = false
  /// The first value that is a number only in one of ``otherFormats``.
  private var valueInOtherFormat: String?
  /// For each of ``otherFormats``, whether all values so far are numbers in it.
  private var possibleFormats: [Bool]
  /// The format set in the options.
  private let format: NumberFormat

  /// Formats that a note can suggest.
  private static let otherFormats = [
    NumberFormat(decimalSeparator: ","), NumberFormat(groupSeparator: ","),
    NumberFormat(decimalSeparator: ",", groupSeparator: "."), NumberFormat(groupSeparator: "'"),
    NumberFormat(decimalSeparator: ",", groupSeparator: " "),
  ].map { (format: $0, numbers: PlainNumbers($0)) }

  /// - Parameter format: The format set in the options. A note suggests only formats that agree with it.
  init(_ format: NumberFormat) {
    self.format = format
    possibleFormats = Self.otherFormats.map { $0.format.extends(format) }
  }

  /// Processes a nonempty value whose number format does not depend on the options, such as a JSON number.
  mutating func meetPlain(_ value: UnsafeRawBufferPointer) {
    let isNumber = ExactNumber.integer(value) != nil || ExactNumber.fraction(value) != nil
    let formats = possibleFormats
    meet(value, plain: value)
    if isNumber { possibleFormats = formats }
  }

  /// Processes a nonempty value.
  ///
  /// - Parameters:
  ///   - value: The bytes of the value, as the file contains them.
  ///   - plain: The value as a number in SQLite's format.
  mutating func meet(_ value: UnsafeRawBufferPointer, plain: UnsafeRawBufferPointer) {
    checkFormats(of: value)
    if ExactNumber.integer(plain) != nil {
      hasIntegers = true
    } else if let fraction = ExactNumber.fraction(plain) {
      hasFractions = true
      if let decimals, decimals != fraction.decimals { hasSeveralScales = true }
      decimals = fraction.decimals
      if fraction.endsWithZero, valueWithZero == nil { valueWithZero = value.shortText }
      if fraction.hasOtherForm, valueInOtherForm == nil { valueInOtherForm = value.shortText }
    } else {
      hasText = true
      guard !hasOthers else { return }
      if Self.isInexactNumber(plain) {
        inexactValue = inexactValue ?? value.shortText
      } else {
        hasOthers = true
        valueInOtherFormat = valueInOtherFormat ?? value.shortText
      }
    }
  }

  private mutating func checkFormats(of value: UnsafeRawBufferPointer) {
    guard possibleFormats.contains(true) else { return }
    withUnsafeTemporaryAllocation(byteCount: PlainNumbers.mostBytes, alignment: 1) { buffer in
      for (position, format) in Self.otherFormats.enumerated() where possibleFormats[position] {
        let plain = format.numbers?.plain(value, in: buffer) ?? value
        possibleFormats[position] = ExactNumber.integer(plain) != nil || ExactNumber.fraction(plain) != nil
      }
    }
  }

  /// Whether a value is a number that 64 bits do not hold exactly, or has an exponent.
  ///
  /// Excludes identifiers, such as digits after leading zeros or a plus sign.
  private static func isInexactNumber(_ value: UnsafeRawBufferPointer) -> Bool {
    let digits = value.drop { $0 == UInt8(ascii: "-") }.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard digits.count < 2 || digits.first != UInt8(ascii: "0"), value.first != UInt8(ascii: "+"),
      value.contains(where: { ".eE".utf8.contains($0) }), let number = NumberParsing.real(value)
    else { return false }
    return number.isFinite
  }

  /// The type for the values met so far; text if there were none.
  var type: ColumnType {
    switch (hasIntegers, hasFractions) {
    case _ where hasText: .text
    case (true, false): .integer
    case (false, true): .real
    case (true, true): .numeric
    case (false, false): .text
    }
  }

  /// A note about the column, if trailing zeros are dropped, or numbers are kept as text.
  ///
  /// If all values have the same number of decimal places, as amounts of money do, the text can be restored, and there
  /// is no note.
  ///
  /// - Parameter name: The column's name.
  /// - Returns: A sentence, or nil.
  func note(on name: String) -> String? {
    switch type {
    case .text:
      if let valueInOtherFormat, let format = possibleFormats.firstIndex(of: true) {
        // `1,234` can be read either way.
        let isEither = possibleFormats[0] && possibleFormats[1]
        let option =
          isEither ? "--decimal ',' or --thousands ','" : Self.otherFormats[format].format.options(beside: self.format)
        return "\(name) is text, because of numbers such as \(valueInOtherFormat): \(option) makes them comparable"
      }
      guard let inexactValue, !hasOthers else { return nil }
      return "\(name) is text, because of numbers such as \(inexactValue): --column-type '\(name):real' makes them "
        + "comparable"
    case .integer: return nil
    case .real, .numeric:
      if let valueInOtherForm {
        return "\(name) is numeric, so the form of numbers such as \(valueInOtherForm) is not kept. To keep it, use "
          + "--column-type '\(name):text'"
      }
      guard let valueWithZero, hasSeveralScales || hasIntegers else { return nil }
      return "\(name) is numeric, so trailing zeros (as in \(valueWithZero)) are dropped. To keep them, use "
        + "--column-type '\(name):text'"
    }
  }
}

extension NumberFormat {
  /// Whether this is a different format that keeps the characters of `given`, except for those that are the default.
  fileprivate func extends(_ given: NumberFormat) -> Bool {
    let standard = NumberFormat()
    return self != given
      && (given.decimalSeparator == standard.decimalSeparator || given.decimalSeparator == decimalSeparator)
      && (given.groupSeparator == nil || given.groupSeparator == groupSeparator)
  }

  /// The options of the tool that change `given` to this format.
  fileprivate func options(beside given: NumberFormat) -> String {
    func option(_ name: String, _ character: Character) -> String {
      character == "'" ? "\(name) \"'\"" : "\(name) '\(character)'"
    }
    var options = decimalSeparator == given.decimalSeparator ? [] : [option("--decimal", decimalSeparator)]
    if let groupSeparator, groupSeparator != given.groupSeparator {
      options.append(option("--thousands", groupSeparator))
    }
    return options.joined(separator: " ")
  }
}

extension ColumnType {
  /// The largest number such that a floating-point number represents all whole numbers up to it exactly.
  private static let mostWhole: Int64 = 1 << 53

  /// A value as a column of this type, if the type was found, stores it exactly; nil if it requires a wider type.
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

  /// The type for the column's earlier values and for one that does not fit this type.
  func widened(for field: UnsafeRawBufferPointer) -> ColumnType {
    self == .integer && ColumnType.numeric.exactValue(field) != nil ? .numeric : .text
  }
}
