#if Drawing
/// The reason why a drawing could not be finished.
public struct DrawingError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  ///
  /// Later versions may add more, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable { case outOfMemory, invalidGeometry, library }

    private let kind: Kind

    /// There is not enough memory for the image, or for the drawing.
    public static let outOfMemory = Code(kind: .outOfMemory)
    /// The geometry is invalid: a number is infinite or not a number, a transformation reduces areas to lines, or text
    /// is too large.
    public static let invalidGeometry = Code(kind: .invalidGeometry)
    /// cairo reported another error.
    public static let library = Code(kind: .library)

    /// A description of the kind of failure.
    public var description: String {
      switch kind {
      case .outOfMemory: "there is not enough memory"
      case .invalidGeometry: "there is a number that can't be drawn with"
      case .library: "the drawing library refused"
      }
    }
  }

  /// The kind of failure.
  public let code: Code
  /// A description, for users, of the drawing that failed.
  public let context: String
  /// The error that caused this error, if any.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - context: A description, for users, of the drawing that failed.
  ///   - underlyingError: The error that caused this error, if any.
  public init(_ code: Code, context: String, underlyingError: (any Error)? = nil) {
    (self.code, self.context, self.underlyingError) = (code, context, underlyingError)
  }

  /// The failure, and the drawing that failed.
  public var description: String {
    "\(code): \(context)" + (underlyingError.map { " (\($0))" } ?? "")
  }
}
#endif
