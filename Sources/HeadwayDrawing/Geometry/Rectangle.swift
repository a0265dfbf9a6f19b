#if Drawing
/// A rectangle: its top left corner and its size, in points.
public struct Rectangle: Sendable, Hashable {
  /// The top left corner.
  public var origin: Point
  /// The size.
  public var size: Size

  /// Creates a rectangle.
  ///
  /// - Parameters:
  ///   - x: The left edge.
  ///   - y: The top edge.
  ///   - width: The width.
  ///   - height: The height.
  public init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
    self.init(origin: Point(x, y), size: Size(width, height))
  }

  /// Creates a rectangle of a corner and a size.
  ///
  /// - Parameters:
  ///   - origin: The top left corner.
  ///   - size: The size.
  public init(origin: Point = .zero, size: Size) { (self.origin, self.size) = (origin, size) }

  /// The left edge.
  public var minimumX: Double { origin.x }
  /// The top edge.
  public var minimumY: Double { origin.y }
  /// The right edge.
  public var maximumX: Double { origin.x + size.width }
  /// The bottom edge.
  public var maximumY: Double { origin.y + size.height }
  /// The middle.
  public var center: Point { Point(origin.x + size.width / 2, origin.y + size.height / 2) }

  /// The rectangle with each edge moved inwards, or outwards by a negative distance.
  ///
  /// - Parameter distance: By how much.
  /// - Returns: The smaller rectangle.
  public func inset(by distance: Double) -> Rectangle {
    Rectangle(
      origin.x + distance, origin.y + distance, size.width - 2 * distance, size.height - 2 * distance)
  }

  /// The largest rectangle of the proportions of `content` that fits into this one, in its middle.
  ///
  /// - Parameter content: The size whose proportions to keep, of which neither side is zero.
  /// - Returns: The rectangle.
  public func fitting(_ content: Size) -> Rectangle {
    let factor = min(size.width / content.width, size.height / content.height)
    let fitted = Size(content.width * factor, content.height * factor)
    return Rectangle(
      origin: Point(center.x - fitted.width / 2, center.y - fitted.height / 2), size: fitted)
  }
}
#endif
