#if Drawing
/// What a path is filled or stroked with.
public struct Paint: Sendable {
  enum Kind: Sendable {
    case color(Color)
    case linear(Gradient, start: Point, end: Point)
    case radial(Gradient, center: Point, startRadius: Double, endRadius: Double)
    case image(Image, origin: Point)
  }

  let kind: Kind

  /// One colour.
  ///
  /// - Parameter color: The colour.
  /// - Returns: The paint.
  public static func color(_ color: Color) -> Paint { Paint(kind: .color(color)) }

  /// Colours along a line; before its start and after its end the first and the last.
  ///
  /// - Parameters:
  ///   - gradient: The colours.
  ///   - start: Where the line begins.
  ///   - end: Where the line ends.
  /// - Returns: The paint.
  public static func linearGradient(_ gradient: Gradient, from start: Point, to end: Point) -> Paint {
    Paint(kind: .linear(gradient, start: start, end: end))
  }

  /// Colours from a point outwards; inside the first circle and outside the second the first and the last.
  ///
  /// - Parameters:
  ///   - gradient: The colours.
  ///   - center: The middle of both circles.
  ///   - startRadius: The radius of the circle at which the gradient begins.
  ///   - endRadius: The radius of the circle at which it ends.
  /// - Returns: The paint.
  public static func radialGradient(
    _ gradient: Gradient, center: Point, startRadius: Double = 0, endRadius: Double
  ) -> Paint {
    Paint(kind: .radial(gradient, center: center, startRadius: startRadius, endRadius: endRadius))
  }

  /// An image, repeated in both directions.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - origin: Where the top left corner of one of them is.
  /// - Returns: The paint.
  public static func tiles(of image: Image, origin: Point = .zero) -> Paint {
    Paint(kind: .image(image, origin: origin))
  }

  /// Whether cairo's behaviour is defined for its numbers.
  var isFinite: Bool {
    switch kind {
    case .color(let color): color.isDrawable
    case .linear(let gradient, let start, let end):
      (start.x + start.y + end.x + end.y).isFinite && gradient.isDrawable
    case .radial(let gradient, let center, let startRadius, let endRadius):
      (center.x + center.y + startRadius + endRadius).isFinite && gradient.isDrawable
    case .image(_, let origin): (origin.x + origin.y).isFinite
    }
  }
}
#endif
