#if Drawing
/// A width and a height, in points.
public struct Size: Sendable, Hashable {
  /// The width.
  public var width: Double
  /// The height.
  public var height: Double

  /// A size with zero width and height.
  public static let zero = Size(0, 0)

  /// Creates a size.
  ///
  /// - Parameters:
  ///   - width: The width, in points.
  ///   - height: The height, in points.
  public init(_ width: Double, _ height: Double) { (self.width, self.height) = (width, height) }
}
#endif
