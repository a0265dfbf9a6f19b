/// A type of which one field of a CSV file can hold a value.
///
/// `String`, the integers, `Double`, `Float`, `Bool` and their optionals are, and so are enumerations with one of these
/// as raw value that say so. Conform types of your own, and of others, that a field can hold:
///
/// ```swift
/// struct Time: CSVFieldConvertible {
///   var minutes: Int
///
///   init?(csvField bytes: UnsafeRawBufferPointer) {
///     let parts = bytes.split(separator: UInt8(ascii: ":")).map { Int(String(decoding: $0, as: UTF8.self)) }
///     guard parts.count == 2, let hours = parts[0], let rest = parts[1] else { return nil }
///     minutes = hours * 60 + rest
///   }
///
///   var csvField: String { "\(minutes / 60):\(minutes % 60)" }
/// }
/// ```
///
/// A type that is `Decodable` or `Encodable` too is read and written by this conformance where it is part of a row.
public protocol CSVFieldConvertible {
  /// Makes a value of a field.
  ///
  /// Nil if the field holds none.
  ///
  /// - Parameter bytes: The field, without quotes around it; valid until the initialiser returns.
  init?(csvField bytes: UnsafeRawBufferPointer)

  /// The field that holds the value, without quotes around it.
  var csvField: String { get }
}

extension String: CSVFieldConvertible {
  /// The text of a field; nil if it is not valid UTF-8.
  ///
  /// - Parameter bytes: The field.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    if bytes.isASCII {
      self.init(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }

  /// The text itself.
  public var csvField: String { self }
}

extension Bool: CSVFieldConvertible {
  /// What a field says: `true`, `yes` or `1`, `false`, `no` or `0`, in either case; nil for anything else.
  ///
  /// - Parameter bytes: The field.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    guard bytes.count <= 5 else { return nil }
    switch String(decoding: bytes, as: UTF8.self).lowercased() {
    case "true", "yes", "1": self = true
    case "false", "no", "0": self = false
    default: return nil
    }
  }

  /// `true` or `false`.
  public var csvField: String { self ? "true" : "false" }
}

extension Optional: CSVFieldConvertible where Wrapped: CSVFieldConvertible {
  /// The value of a field, or nothing if the field is empty; nil if it holds something else.
  ///
  /// - Parameter bytes: The field.
  @inlinable
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty {
      self = .none
      return
    }
    guard let value = Wrapped(csvField: bytes) else { return nil }
    self = .some(value)
  }

  /// The field of the value; empty if there is none.
  public var csvField: String { self?.csvField ?? "" }
}

extension RawRepresentable where Self: CSVFieldConvertible, RawValue: CSVFieldConvertible {
  /// The case whose raw value a field holds; nil if there is none.
  ///
  /// - Parameter bytes: The field.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    guard let rawValue = RawValue(csvField: bytes) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The field of the raw value.
  public var csvField: String { rawValue.csvField }
}
