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
  public let excerpt: String

  /// A description of the defect for people, as a sentence without the position.
  public var context: String { "The record is malformed: \(defect)." }

  /// A more precise reason than the code's.
  ///
  /// Nil if there is none.
  private let detail: String?

  /// Creates a description of a defect.
  ///
  /// - Parameters:
  ///   - code: The kind of defect.
  ///   - lineNumber: The physical line of the defect, starting at one.
  ///   - byteOffset: The offset of the defect from the start of the stream.
  ///   - excerpt: The text at the defect.
  public init(code: Code, lineNumber: Int, byteOffset: Int, excerpt: String) {
    self.init(code: code, lineNumber: lineNumber, byteOffset: byteOffset, excerpt: excerpt, detail: nil)
  }

  /// Creates a description of a defect, with a reason that is more precise than the code's.
  init(code: Code, lineNumber: Int, byteOffset: Int, excerpt: String, detail: String?) {
    self.code = code
    self.lineNumber = lineNumber
    self.byteOffset = byteOffset
    self.excerpt = excerpt
    self.detail = detail
  }

  /// One line for people: the position, and what is wrong.
  public var description: String { "\(place): \(context)" }

  /// The position and the defect, as the reason for rejecting a record.
  package var reason: String { "\(place): \(defect)" }

  private var place: String { "line \(lineNumber), byte \(byteOffset)" }

  /// The defect as a phrase, and the text at the defect, unless that is the rest of the record.
  private var defect: String {
    (detail ?? code.reason) + (excerpt.isEmpty || code == .unclosedQuote ? "" : ": \(excerpt.debugDescription)")
  }
}

extension CSVError {
  /// The kinds of defect.
  ///
  /// Later versions might add kinds, so a `switch` over codes needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let phrase: String
    let reason: String

    private init(_ phrase: String, _ reason: String) { (self.phrase, self.reason) = (phrase, reason) }

    /// A quoted field continues after its closing quote: `"a"b`.
    public static let textAfterClosingQuote = Code("text after a closing quote", "text after a closing quote")

    /// A quoted field is still open at the end of the input, or when its record exceeds the maximum length.
    public static let unclosedQuote = Code("unclosed quote", "a quote that is never closed")

    /// A record is longer than the parser's maximum length.
    public static let recordTooLong = Code("record over the maximum length", "a record longer than the maximum")

    /// A line of JSON Lines is not a single object, contains a member twice, or contains a member that is not a column.
    public static let invalidJSON = Code("invalid JSON", "a line that is not a JSON object")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }
}
