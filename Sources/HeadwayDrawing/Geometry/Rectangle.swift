#if Drawing
/// A rectangle: its top left corner and its size, in points.
public struct Rectangle: Sendable, Hashable {
  /// The top left corner.
  public var origin: Point
  /// The width and the height.
  public var size: Size

  /// Creates a rectangle.
  ///
  /// - Parameters:
  ///   - x: The left edge, in points.
  ///   - y: The top edge, in points.
  ///   - width: The width, in points.
  ///   - height: The height, in points.
  public init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
    self.init(origin: Point(x, y), size: Size(width, height))
  }

  /// Creates a rectangle with a corner and a size.
  ///
  /// - Parameters:
  ///   - origin: The top left corner.
  ///   - size: The width and height of the rectangle.
  public init(origin: Point = .zero, size: Size) { (self.origin, self.size) = (origin, size) }

  /// The left edge.
  public var minimumX: Double { origin.x }
  /// The top edge.
  public var minimumY: Double { origin.y }
  /// The right edge.
  public var maximumX: Double { origin.x + size.width }
  /// The bottom edge.
  public var maximumY: Double { origin.y + size.height }
  /// The center.
  public var center: Point { Point(origin.x + size.width / 2, origin.y + size.height / 2) }

  /// Returns the rectangle with each edge moved inward, or outward if the distance is negative.
  ///
  /// - Parameter distance: The distance, in points.
  /// - Returns: A rectangle with the same center.
  public func inset(by distance: Double) -> Rectangle {
    Rectangle(
      origin.x + distance, origin.y + distance, size.width - 2 * distance, size.height - 2 * distance)
  }

  /// Returns the largest rectangle with the proportions of `content` that fits into this one, centered.
  ///
  /// - Parameter content: The size whose proportions to keep. Neither side may be zero.
  /// - Returns: The largest such rectangle.
  public func fitting(_ content: Size) -> Rectangle {
    let factor = min(size.width / content.width, size.height / content.height)
    let fitted = Size(content.width * factor, content.height * factor)
    return Rectangle(
      origin: Point(center.x - fitted.width / 2, center.y - fitted.height / 2), size: fitted)
  }
}
#endif
