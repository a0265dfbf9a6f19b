#if Drawing
/// A path of lines, curves, and arcs that a context fills, strokes, or clips to.
///
/// A path is a value that belongs to no context. You can create it once and draw it many times, on any thread.
public struct Path: Sendable, Hashable {
  enum Element: Sendable, Hashable {
    case move(Point)
    case line(Point)
    case curve(Point, Point, Point)
    case arc(center: Point, radius: Double, start: Double, end: Double, isNegative: Bool)
    case rectangle(Rectangle)
    case newSubpath
    case close
  }

  private(set) var elements: [Element] = []
  /// Whether all numbers are finite.
  ///
  /// For other numbers, cairo's behavior is undefined.
  private(set) var isFinite = true

  /// Creates an empty path.
  public init() {}

  /// Creates the path of a rectangle.
  ///
  /// - Parameter rectangle: The rectangle that the path outlines.
  public init(_ rectangle: Rectangle) { addRectangle(rectangle) }

  /// Creates the path of a rectangle with rounded corners.
  ///
  /// - Parameters:
  ///   - rectangle: The rectangle that the path outlines.
  ///   - cornerRadius: The radius of its corners, at most half of the shorter side.
  public init(_ rectangle: Rectangle, cornerRadius: Double) {
    addRoundedRectangle(rectangle, cornerRadius: cornerRadius)
  }

  /// Creates the path of an ellipse.
  ///
  /// - Parameter rectangle: The bounding rectangle of the ellipse.
  public init(ellipseIn rectangle: Rectangle) { addEllipse(in: rectangle) }

  /// Creates the path of a straight line.
  ///
  /// - Parameters:
  ///   - start: The start of the line.
  ///   - end: The end point of the line.
  public init(lineFrom start: Point, to end: Point) {
    move(to: start)
    addLine(to: end)
  }

  /// Creates a path in a closure.
  ///
  /// - Parameter build: A closure that adds elements to the path.
  public init(_ build: (inout Path) -> Void) { build(&self) }

  /// Whether the path has no elements.
  public var isEmpty: Bool { elements.isEmpty }

  private mutating func append(_ element: Element, _ sum: Double) {
    elements.append(element)
    // A sum with an infinity or NaN is never finite.
    if !sum.isFinite { isFinite = false }
  }
}

extension Path {
  /// Starts a new subpath.
  ///
  /// - Parameter point: The start of the subpath.
  public mutating func move(to point: Point) { append(.move(point), point.sum) }

  /// Adds a straight line from the current point.
  ///
  /// - Parameter point: The end of the line.
  public mutating func addLine(to point: Point) { append(.line(point), point.sum) }

  /// Adds a subpath of straight lines through points.
  ///
  /// - Parameter points: The points to connect, in order. The lines start at the first one.
  public mutating func addLines(_ points: [Point]) {
    guard let first = points.first else { return }
    move(to: first)
    for point in points.dropFirst() { addLine(to: point) }
  }

  /// Adds a cubic Bézier curve from the current point.
  ///
  /// - Parameters:
  ///   - end: The point where the curve ends.
  ///   - control1: The first control point.
  ///   - control2: The second control point.
  public mutating func addCurve(to end: Point, control1: Point, control2: Point) {
    append(.curve(control1, control2, end), end.sum + control1.sum + control2.sum)
  }

  /// Adds a circular arc, preceded by a line from the current point.
  ///
  /// - Parameters:
  ///   - center: The center of the circle.
  ///   - radius: The radius of the circle.
  ///   - start: The start angle of the arc, in radians: 0 is to the right, π / 2 is down.
  ///   - end: The end angle of the arc, in radians.
  ///   - isCounterclockwise: Whether the arc runs counterclockwise on the screen.
  public mutating func addArc(
    center: Point, radius: Double, from start: Double, to end: Double, isCounterclockwise: Bool = false
  ) {
    let sweep = isCounterclockwise ? start - end : end - start
    // cairo draws each full turn. Omitting pairs of turns changes nothing under either fill rule.
    let turns = sweep > 4 * .pi ? 4 * .pi + sweep.truncatingRemainder(dividingBy: 4 * .pi) : sweep
    append(
      .arc(
        center: center, radius: radius, start: start,
        end: sweep == turns ? end : isCounterclockwise ? start - turns : start + turns, isNegative: isCounterclockwise
      ),
      center.sum + radius + start + end)
  }

  /// Adds a line to the start of the current subpath.
  public mutating func closeSubpath() { append(.close, 0) }

  /// Adds a rectangle.
  ///
  /// - Parameter rectangle: The rectangle to add.
  public mutating func addRectangle(_ rectangle: Rectangle) {
    append(.rectangle(rectangle), rectangle.origin.sum + rectangle.size.width + rectangle.size.height)
  }

  /// Adds a rectangle with rounded corners.
  ///
  /// - Parameters:
  ///   - rectangle: The rectangle to add.
  ///   - cornerRadius: The radius of its corners, at most half of the shorter side.
  public mutating func addRoundedRectangle(_ rectangle: Rectangle, cornerRadius: Double) {
    let radius = max(0, min(cornerRadius, min(rectangle.size.width, rectangle.size.height) / 2))
    if cornerRadius.isNaN { isFinite = false }
    guard radius > 0 else { return addRectangle(rectangle) }
    let (left, right) = (rectangle.minimumX + radius, rectangle.maximumX - radius)
    let (top, bottom) = (rectangle.minimumY + radius, rectangle.maximumY - radius)
    append(.newSubpath, 0)
    addArc(center: Point(right, top), radius: radius, from: -.pi / 2, to: 0)
    addArc(center: Point(right, bottom), radius: radius, from: 0, to: .pi / 2)
    addArc(center: Point(left, bottom), radius: radius, from: .pi / 2, to: .pi)
    addArc(center: Point(left, top), radius: radius, from: .pi, to: .pi * 1.5)
    closeSubpath()
  }

  /// Adds an ellipse.
  ///
  /// - Parameter rectangle: The bounding rectangle of the ellipse.
  public mutating func addEllipse(in rectangle: Rectangle) {
    // With this distance of control points, four curves approximate a circle of radius 1 best.
    let factor = 0.552_284_749_831
    let (center, x, y) = (rectangle.center, rectangle.size.width / 2, rectangle.size.height / 2)
    func at(_ horizontal: Double, _ vertical: Double) -> Point {
      Point(center.x + horizontal * x, center.y + vertical * y)
    }
    move(to: at(1, 0))
    addCurve(to: at(0, 1), control1: at(1, factor), control2: at(factor, 1))
    addCurve(to: at(-1, 0), control1: at(-factor, 1), control2: at(-1, factor))
    addCurve(to: at(0, -1), control1: at(-1, -factor), control2: at(-factor, -1))
    addCurve(to: at(1, 0), control1: at(factor, -1), control2: at(1, -factor))
    closeSubpath()
  }

  /// Adds another path as a separate subpath.
  ///
  /// - Parameter path: The path to add.
  public mutating func addPath(_ path: Path) {
    elements += [.newSubpath] + path.elements
    if !path.isFinite { isFinite = false }
  }
}

extension Point {
  fileprivate var sum: Double { x + y }
}
#endif
