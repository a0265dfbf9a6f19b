internal import HeadwayLines

extension FixedWidthInteger where Self: CSVFieldConvertible {
  /// The integer that a field represents in decimal notation.
  ///
  /// Nil if it does not represent one, or if the integer does not fit.
  ///
  /// A sign, and blanks before and after the number, are allowed; nothing else is.
  ///
  /// - Parameter bytes: The content of the field, without quotes.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    if let number = NumberParsing.integer(bytes) {
      self.init(exactly: number)
    } else if Self.max > Int64.max {
      // For the types that are larger than a signed integer of 64 bits.
      self.init(String(decoding: bytes, as: UTF8.self))
    } else {
      return nil
    }
  }

  /// The number in decimal notation.
  public var csvField: String { String(self) }
}

extension Int: CSVFieldConvertible {}
extension Int8: CSVFieldConvertible {}
extension Int16: CSVFieldConvertible {}
extension Int32: CSVFieldConvertible {}
extension Int64: CSVFieldConvertible {}
extension Int128: CSVFieldConvertible {}
extension UInt: CSVFieldConvertible {}
extension UInt8: CSVFieldConvertible {}
extension UInt16: CSVFieldConvertible {}
extension UInt32: CSVFieldConvertible {}
extension UInt64: CSVFieldConvertible {}
extension UInt128: CSVFieldConvertible {}

extension Double: CSVFieldConvertible {
  /// The number that a field represents in decimal notation, with or without an exponent.
  ///
  /// Nil if it does not represent one.
  ///
  /// The value is the nearest finite number of this type. A sign, and blanks before and after the number, are allowed.
  /// Names such as `nan` and hexadecimal digits are not.
  ///
  /// - Parameter bytes: The content of the field, without quotes.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    guard let number = NumberParsing.real(bytes) else { return nil }
    self = number
  }

  /// The shortest decimal notation that represents the same number.
  public var csvField: String { description }
}

extension Float: CSVFieldConvertible {
  /// The number that a field represents in decimal notation, with or without an exponent.
  ///
  /// Nil if it does not represent one, or if the number is too large.
  ///
  /// - Parameter bytes: The content of the field, without quotes.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    guard let number = NumberParsing.real(bytes) else { return nil }
    self.init(number)
    if !isFinite { return nil }
  }

  /// The shortest decimal notation that represents the same number.
  public var csvField: String { description }
}
