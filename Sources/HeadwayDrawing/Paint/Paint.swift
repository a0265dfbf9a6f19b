#if Drawing
/// The paint of a fill or a stroke.
public struct Paint: Sendable {
  enum Kind: Sendable {
    case color(Color)
    case linear(Gradient, start: Point, end: Point)
    case radial(Gradient, center: Point, startRadius: Double, endRadius: Double)
    case image(Image, origin: Point)
  }

  let kind: Kind

  /// Returns a paint with a single color.
  ///
  /// - Parameter color: The color of the paint.
  /// - Returns: A paint of this color.
  public static func color(_ color: Color) -> Paint { Paint(kind: .color(color)) }

  /// Returns a gradient along a line.
  ///
  /// The first color continues before the start, and the last color continues after the end.
  ///
  /// - Parameters:
  ///   - gradient: The colors, with their locations.
  ///   - start: The start of the line.
  ///   - end: The end of the line.
  /// - Returns: A paint whose color changes along the line.
  public static func linearGradient(_ gradient: Gradient, from start: Point, to end: Point) -> Paint {
    Paint(kind: .linear(gradient, start: start, end: end))
  }

  /// Returns a gradient from a point outward.
  ///
  /// The first color fills the inner circle, and the last color continues outside the outer circle.
  ///
  /// - Parameters:
  ///   - gradient: The colors, with their locations.
  ///   - center: The center of both circles.
  ///   - startRadius: The radius of the inner circle, where the gradient begins.
  ///   - endRadius: The radius of the outer circle, where the gradient ends.
  /// - Returns: A paint whose color changes with the distance from the center.
  public static func radialGradient(
    _ gradient: Gradient, center: Point, startRadius: Double = 0, endRadius: Double
  ) -> Paint {
    Paint(kind: .radial(gradient, center: center, startRadius: startRadius, endRadius: endRadius))
  }

  /// Returns a paint that repeats an image in both directions.
  ///
  /// - Parameters:
  ///   - image: The image to repeat.
  ///   - origin: The top left corner of one of the repeated images.
  /// - Returns: A paint that repeats the image.
  public static func tiles(of image: Image, origin: Point = .zero) -> Paint {
    Paint(kind: .image(image, origin: origin))
  }

  /// Whether cairo's behavior is defined for its numbers.
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
