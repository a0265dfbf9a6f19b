internal import HeadwayLines

extension FixedWidthInteger where Self: CSVFieldConvertible {
  /// The whole number that a field is in decimal notation; nil if it is none, or does not fit.
  ///
  /// A sign and blanks around it are allowed, nothing else.
  ///
  /// - Parameter bytes: The field.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    if let number = NumberParsing.integer(bytes) {
      self.init(exactly: number)
    } else if Self.max > Int64.max {
      // Of the types that hold more than 64 bits with a sign.
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
  /// The number that a field is in decimal notation, with or without an exponent; nil if it is none.
  ///
  /// It is the nearest there is, and finite. A sign and blanks around it are allowed; names such as `nan` and
  /// hexadecimal digits are not.
  ///
  /// - Parameter bytes: The field.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    guard let number = NumberParsing.real(bytes) else { return nil }
    self = number
  }

  /// The shortest decimal notation that gives the same number.
  public var csvField: String { description }
}

extension Float: CSVFieldConvertible {
  /// The number that a field is in decimal notation, with or without an exponent; nil if it is none or too large.
  ///
  /// - Parameter bytes: The field.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    guard let number = NumberParsing.real(bytes) else { return nil }
    self.init(number)
    if !isFinite { return nil }
  }

  /// The shortest decimal notation that gives the same number.
  public var csvField: String { description }
}
