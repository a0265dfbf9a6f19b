#if Drawing
/// A position, in points from the top left corner: x to the right, y down.
public struct Point: Sendable, Hashable {
  /// The distance from the left edge.
  public var x: Double
  /// The distance from the top edge.
  public var y: Double

  /// The top left corner.
  public static let zero = Point(0, 0)

  /// Creates a point.
  ///
  /// - Parameters:
  ///   - x: The distance from the left edge.
  ///   - y: The distance from the top edge.
  public init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
}
#endif
