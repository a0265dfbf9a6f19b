/// A syntax error in a cron expression.
public struct CronSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The expression.
  public let expression: String
  /// The number of the first invalid character, from 1.
  ///
  /// If something is missing at the end, the column is one more than the number of characters.
  public let column: Int
  /// A sentence that describes the error.
  public let text: String

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - expression: The text that can't be parsed.
  ///   - column: The number of the first invalid character, from 1.
  ///   - text: A sentence that describes the error.
  public init(expression: String, column: Int, text: String) {
    self.expression = expression
    self.column = column
    self.text = text
  }

  /// A description with the expression and the column.
  public var description: String { "The cron expression \"\(expression)\" is wrong in column \(column): \(text)" }
}
