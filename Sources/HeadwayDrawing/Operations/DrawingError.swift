#if Drawing
/// The reason why a drawing could not be finished.
public struct DrawingError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  ///
  /// Later versions might add more, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let phrase: String
    /// A sentence without its period.
    let sentence: String

    private init(_ phrase: String, _ sentence: String) { (self.phrase, self.sentence) = (phrase, sentence) }

    /// There is not enough memory for the image, or for the drawing.
    public static let outOfMemory = Code("lack of memory", "There is not enough memory")
    /// The geometry is invalid: a number is infinite or not a number, a transformation reduces areas to lines, or text
    /// is too large.
    public static let invalidGeometry = Code("invalid geometry", "The geometry can't be drawn")
    /// cairo reported another error.
    public static let library = Code("error of the drawing library", "The drawing library failed")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }

  /// The kind of failure.
  public let code: Code
  /// A description of the error for people, as a sentence.
  public let context: String
  /// The error that caused this error, if any.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - context: What happened, as a sentence for people.
  ///   - underlyingError: The error that caused this error, if any.
  public init(_ code: Code, context: String, underlyingError: (any Error)? = nil) {
    (self.code, self.context, self.underlyingError) = (code, context, underlyingError)
  }

  /// Creates an error with a detail after the sentence about the kind of failure.
  init(_ code: Code, detail: String) { self.init(code, context: "\(code.sentence): \(detail).") }

  /// A description of the error and its cause.
  public var description: String { context + (underlyingError.map { " (\($0))" } ?? "") }
}
#endif
