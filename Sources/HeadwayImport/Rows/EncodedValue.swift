/// A field, converted for the database.
///
/// Text is a stretch of the batch's bytes.
struct EncodedValue {
  enum Kind: UInt8 {
    case null, integer, real, text
  }

  /// The number, the bit pattern of the floating-point number, or where the text starts.
  var payload: Int64
  /// How many bytes the text has.
  var length: Int32
  var kind: Kind

  static let null = EncodedValue(payload: 0, length: 0, kind: .null)

  static func integer(_ number: Int64) -> EncodedValue { EncodedValue(payload: number, length: 0, kind: .integer) }

  static func real(_ number: Double) -> EncodedValue {
    EncodedValue(payload: Int64(bitPattern: number.bitPattern), length: 0, kind: .real)
  }

  static func text(at start: Int, count: Int) -> EncodedValue {
    EncodedValue(payload: Int64(start), length: Int32(count), kind: .text)
  }
}
