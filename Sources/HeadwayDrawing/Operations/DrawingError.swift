#if Drawing
/// Why a drawing could not be finished.
public struct DrawingError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  ///
  /// Later versions may add some: keep a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable { case outOfMemory, invalidGeometry, library }

    private let kind: Kind

    /// There is no memory for the image, or for what is drawn.
    public static let outOfMemory = Code(kind: .outOfMemory)
    /// A number can't be drawn with: it is infinite or none, a transformation makes an area a line, or text is too
    /// large.
    public static let invalidGeometry = Code(kind: .invalidGeometry)
    /// cairo refused for another reason.
    public static let library = Code(kind: .library)

    /// The kind in words.
    public var description: String {
      switch kind {
      case .outOfMemory: "there is not enough memory"
      case .invalidGeometry: "there is a number that can't be drawn with"
      case .library: "the drawing library refused"
      }
    }
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// What was being drawn, for a person.
  public let context: String
  /// The error below, if there was one.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: What kind of thing went wrong.
  ///   - context: What was being drawn, for a person.
  ///   - underlyingError: The error below.
  public init(_ code: Code, context: String, underlyingError: (any Error)? = nil) {
    (self.code, self.context, self.underlyingError) = (code, context, underlyingError)
  }

  /// What happened, and what was being drawn.
  public var description: String {
    "\(code): \(context)" + (underlyingError.map { " (\($0))" } ?? "")
  }
}
#endif
