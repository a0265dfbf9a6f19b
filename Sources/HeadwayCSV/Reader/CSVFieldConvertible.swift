/// A type whose values can be represented by one field of a CSV file.
///
/// `String`, the integers, `Double`, `Float`, `Bool` and their optionals conform. An enumeration whose raw value has
/// one of these types can declare conformance. Conform your own types, and others that a field can represent:
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
/// A type that is also `Decodable` or `Encodable` uses this conformance when it is part of a row that is read or
/// written.
public protocol CSVFieldConvertible {
  /// Creates a value from a field.
  ///
  /// Nil if the field does not represent a value.
  ///
  /// - Parameter bytes: The field, without the quotes around it. Valid until the initializer returns.
  init?(csvField bytes: UnsafeRawBufferPointer)

  /// The field that represents the value, without quotes around it.
  var csvField: String { get }
}

extension String: CSVFieldConvertible {
  /// The text of a field.
  ///
  /// Nil if it is not valid UTF-8.
  ///
  /// - Parameter bytes: The content of the field, without quotes.
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
  /// The value of a field: `true`, `yes` or `1`, or `false`, `no` or `0`, in any case.
  ///
  /// Nil for anything else.
  ///
  /// - Parameter bytes: The content of the field, without quotes.
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
  /// The value of a field, or no value if the field is empty.
  ///
  /// Nil if the field does not represent a value.
  ///
  /// - Parameter bytes: The content of the field, without quotes.
  @inlinable
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty {
      self = .none
      return
    }
    guard let value = Wrapped(csvField: bytes) else { return nil }
    self = .some(value)
  }

  /// The field that represents the value.
  ///
  /// Empty if there is no value.
  public var csvField: String { self?.csvField ?? "" }
}

extension RawRepresentable where Self: CSVFieldConvertible, RawValue: CSVFieldConvertible {
  /// The case whose raw value a field represents.
  ///
  /// Nil if there is none.
  ///
  /// - Parameter bytes: The content of the field, without quotes.
  public init?(csvField bytes: UnsafeRawBufferPointer) {
    guard let rawValue = RawValue(csvField: bytes) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The field that represents the raw value.
  public var csvField: String { rawValue.csvField }
}
