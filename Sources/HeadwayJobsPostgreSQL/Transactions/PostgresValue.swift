import Headway

#if PostgreSQL
/// A value for a parameter of a statement in a ``PostgresTransaction``.
///
/// You can pass literals, and values of your own types that conform to this protocol.
public protocol PostgresValue: Sendable {
  /// The value in the text format of PostgreSQL, such as `2026-03-01` for a date; nil for null.
  ///
  /// The server infers the type from the statement.
  var postgresText: String? { get }
}

extension String: PostgresValue {
  /// The text itself.
  public var postgresText: String? { self }
}

extension Int: PostgresValue {
  /// The number in decimal notation.
  public var postgresText: String? { String(self) }
}

extension Int64: PostgresValue {
  /// The number in decimal notation.
  public var postgresText: String? { String(self) }
}

extension Double: PostgresValue {
  /// The shortest decimal number that is equal to this one.
  public var postgresText: String? { "\(self)" }
}

extension Bool: PostgresValue {
  /// `true` or `false`.
  public var postgresText: String? { String(self) }
}

extension [UInt8]: PostgresValue {
  /// The bytes as hexadecimal digits.
  public var postgresText: String? {
    let digits = Array("0123456789abcdef".utf8)
    return "\\x" + String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension Optional: PostgresValue where Wrapped: PostgresValue {
  /// The value, or null.
  public var postgresText: String? { self?.postgresText }
}

/// A row that a statement has returned in a ``PostgresTransaction``.
public struct PostgresRow: Hashable, Sendable {
  private let values: [String: String?]

  init(_ values: [String: String?]) { self.values = values }

  /// The value of a column in the text format of PostgreSQL; nil for null.
  ///
  /// - Parameter column: The column's name, as the statement returns it.
  /// - Returns: The text, such as `t` for true.
  /// - Precondition: The row has a column with this name.
  public subscript(column: String) -> String? {
    guard let value = values[column] else {
      misuse("The row has no column \(column). It has \(values.keys.sorted().joined(separator: ", ")).")
    }
    return value
  }

  /// The value of a column as an integer; nil for null, and for a text that is not an integer.
  ///
  /// - Parameter column: The column's name, as the statement returns it.
  /// - Returns: The value; nil if it is null or not an integer.
  public func int(_ column: String) -> Int? { self[column].flatMap { Int($0) } }

  /// The value of a column as a floating-point number; nil for null, and for a text that is not a number.
  ///
  /// - Parameter column: The column's name, as the statement returns it.
  /// - Returns: The value; nil if it is null or not a number.
  public func double(_ column: String) -> Double? { self[column].flatMap { Double($0) } }
}
#endif
