/// A field that has been converted for the database.
///
/// Text is a range of bytes in the batch.
struct EncodedValue {
  enum Kind: UInt8 {
    case null, integer, real, text
    /// The line of JSON Lines does not have the member: an existing value stays.
    case absent
  }

  /// The number, the bit pattern of the floating-point number, or the start of the text.
  var payload: Int64
  /// The number of bytes in the text.
  var length: Int32
  var kind: Kind

  static let null = EncodedValue(payload: 0, length: 0, kind: .null)
  static let absent = EncodedValue(payload: 0, length: 0, kind: .absent)

  static func integer(_ number: Int64) -> EncodedValue { EncodedValue(payload: number, length: 0, kind: .integer) }

  static func real(_ number: Double) -> EncodedValue {
    EncodedValue(payload: Int64(bitPattern: number.bitPattern), length: 0, kind: .real)
  }

  static func text(at start: Int, count: Int) -> EncodedValue {
    EncodedValue(payload: Int64(start), length: Int32(count), kind: .text)
  }
}
