/// A defect in a malformed record, and its position.
///
/// The parser does not throw errors. It delivers a malformed record as a ``CSVParser/MalformedRecord``, which contains
/// one of these errors, and continues. Throw the error yourself if you want to stop at the first malformed record.
public struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of defect.
  public let code: Code

  /// The physical line of the defect, starting at one.
  ///
  /// For `unclosedQuote`, the line of the opening quote. For `textAfterClosingQuote`, the line of that text. For
  /// `recordTooLong`, the line where the record starts.
  public let lineNumber: Int

  /// The offset of the defect's first byte from the start of the stream, including a byte order mark.
  ///
  /// For `unclosedQuote`, the opening quote. For `textAfterClosingQuote`, the first byte after the closing quote. For
  /// `recordTooLong`, the first byte of the record.
  public let byteOffset: Int

  /// The first bytes of the defect, at most 32 and not beyond the end of its line, repaired to valid Unicode.
  public let context: String

  /// A more precise reason than that of the code.
  ///
  /// Nil if there is none.
  private let detail: String?

  /// Creates a description of a defect.
  ///
  /// - Parameters:
  ///   - code: The kind of defect.
  ///   - lineNumber: The physical line of the defect, starting at one.
  ///   - byteOffset: The offset of the defect from the start of the stream.
  ///   - context: The text at the defect.
  public init(code: Code, lineNumber: Int, byteOffset: Int, context: String) {
    self.init(code: code, lineNumber: lineNumber, byteOffset: byteOffset, context: context, detail: nil)
  }

  /// Creates a description of a defect with a more precise reason than its code has.
  init(code: Code, lineNumber: Int, byteOffset: Int, context: String, detail: String?) {
    self.code = code
    self.lineNumber = lineNumber
    self.byteOffset = byteOffset
    self.context = context
    self.detail = detail
  }

  /// One line for people: the position, the reason, and the text at the defect, unless that is the rest of the record.
  public var description: String {
    let text = context.isEmpty || code == .unclosedQuote ? "" : ": \(context.debugDescription)"
    return "line \(lineNumber), byte \(byteOffset): \(detail ?? code.explanation)\(text)"
  }
}

extension CSVError {
  /// The kinds of defect.
  ///
  /// Later versions might add kinds, so a `switch` over codes needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case textAfterClosingQuote
      case unclosedQuote
      case recordTooLong
      case invalidJSON
    }

    private let kind: Kind

    private init(_ kind: Kind) {
      self.kind = kind
    }

    /// A quoted field continues after its closing quote: `"a"b`.
    public static let textAfterClosingQuote = Code(.textAfterClosingQuote)

    /// A quoted field is still open at the end of the input, or when its record exceeds the maximum length.
    public static let unclosedQuote = Code(.unclosedQuote)

    /// A record is longer than the parser's maximum length.
    public static let recordTooLong = Code(.recordTooLong)

    /// A line of JSON Lines is not a single object, contains a member twice, or contains a member that is not a column.
    public static let invalidJSON = Code(.invalidJSON)

    /// The name of the code, which is stable enough to be written to a file of rejected rows: `unclosedQuote`.
    public var description: String {
      kind.rawValue
    }

    /// The reason as text.
    var explanation: String {
      switch kind {
      case .textAfterClosingQuote: "text after a closing quote"
      case .unclosedQuote: "a quote that is never closed"
      case .recordTooLong: "a record longer than the maximum"
      case .invalidJSON: "a line that is not a JSON object"
      }
    }
  }
}
