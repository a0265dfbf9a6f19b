/// Why a record is malformed, and where.
///
/// The parser throws no errors of its own: it delivers a malformed record as a ``CSVMalformedRecord`` that carries one
/// of these, and goes on. Throw it yourself where the first malformed record shall end the work.
public struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public let code: Code

  /// The 1-based physical line of the defect.
  ///
  /// For `unclosedQuote` the line on which the quote opened, for `textAfterClosingQuote` the line of that text, for
  /// `recordTooLong` the line on which the record starts.
  public let line: Int

  /// The offset of the defect's first byte from the start of the stream, a byte order mark included.
  ///
  /// For `unclosedQuote` the opening quote, for `textAfterClosingQuote` the first byte behind the closing quote, for
  /// `recordTooLong` the record's first byte.
  public let byteOffset: Int

  /// The first bytes of the defect, at most 32 and no further than the end of its line, repaired to valid Unicode.
  public let context: String

  /// A more exact reason than that of the code; nil if there is none.
  private let detail: String?

  /// Describes a defect.
  ///
  /// - Parameters:
  ///   - code: What is wrong.
  ///   - line: The 1-based physical line of the defect.
  ///   - byteOffset: The offset of the defect from the start of the stream.
  ///   - context: The text at the defect.
  public init(code: Code, line: Int, byteOffset: Int, context: String) {
    self.init(code: code, line: line, byteOffset: byteOffset, context: context, detail: nil)
  }

  /// Describes a defect in more words than its code has.
  init(code: Code, line: Int, byteOffset: Int, context: String, detail: String?) {
    self.code = code
    self.line = line
    self.byteOffset = byteOffset
    self.context = context
    self.detail = detail
  }

  /// One line for a person: the place, what is wrong, and the text there, unless that is the rest of the record.
  public var description: String {
    let text = context.isEmpty || code == .unclosedQuote ? "" : ": \(context.debugDescription)"
    return "line \(line), byte \(byteOffset): \(detail ?? code.explanation)\(text)"
  }
}

extension CSVError {
  /// The kinds of defect.
  ///
  /// Later versions may add some, so a `switch` over codes needs a `default`.
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

    /// A quoted field goes on behind its closing quote: `"a"b`.
    public static let textAfterClosingQuote = Code(.textAfterClosingQuote)

    /// A quoted field is still open at the end of the input, or where its record passes the maximum length.
    public static let unclosedQuote = Code(.unclosedQuote)

    /// A record is longer than the parser's maximum.
    public static let recordTooLong = Code(.recordTooLong)

    /// A line of JSON Lines is not one object, or has a member twice, or one that is not a column.
    public static let invalidJSON = Code(.invalidJSON)

    /// The code's name, stable enough to be written to a rejects file: `unclosedQuote`.
    public var description: String {
      kind.rawValue
    }

    /// What is wrong, in words.
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
