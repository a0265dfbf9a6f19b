#if Drawing
/// An affine transformation: `x' = a·x + c·y + x0`, `y' = b·x + d·y + y0`.
public struct Transform: Sendable, Hashable {
  /// The factor of x in the new x.
  public var a: Double
  /// The factor of x in the new y.
  public var b: Double
  /// The factor of y in the new x.
  public var c: Double
  /// The factor of y in the new y.
  public var d: Double
  /// The shift of x.
  public var x0: Double
  /// The shift of y.
  public var y0: Double

  /// The transformation that changes nothing.
  public static let identity = Transform(a: 1, b: 0, c: 0, d: 1, x0: 0, y0: 0)

  /// Creates a transformation from its six numbers.
  ///
  /// - Parameters:
  ///   - a: The factor of x in the new x.
  ///   - b: The factor of x in the new y.
  ///   - c: The factor of y in the new x.
  ///   - d: The factor of y in the new y.
  ///   - x0: The shift of x.
  ///   - y0: The shift of y.
  public init(a: Double, b: Double, c: Double, d: Double, x0: Double, y0: Double) {
    (self.a, self.b, self.c, self.d, self.x0, self.y0) = (a, b, c, d, x0, y0)
  }

  var isFinite: Bool { (a + b + c + d + x0 + y0).isFinite }
}
#endif
