#if Drawing
/// An affine transformation: `x' = a·x + c·y + x0`, `y' = b·x + d·y + y0`.
public struct Transform: Sendable, Hashable {
  /// What x contributes to x.
  public var a: Double
  /// What x contributes to y.
  public var b: Double
  /// What y contributes to x.
  public var c: Double
  /// What y contributes to y.
  public var d: Double
  /// The shift of x.
  public var x0: Double
  /// The shift of y.
  public var y0: Double

  /// Changes nothing.
  public static let identity = Transform(a: 1, b: 0, c: 0, d: 1, x0: 0, y0: 0)

  /// Creates a transformation of its six numbers.
  ///
  /// - Parameters:
  ///   - a: What x contributes to x.
  ///   - b: What x contributes to y.
  ///   - c: What y contributes to x.
  ///   - d: What y contributes to y.
  ///   - x0: The shift of x.
  ///   - y0: The shift of y.
  public init(a: Double, b: Double, c: Double, d: Double, x0: Double, y0: Double) {
    (self.a, self.b, self.c, self.d, self.x0, self.y0) = (a, b, c, d, x0, y0)
  }

  var isFinite: Bool { (a + b + c + d + x0 + y0).isFinite }
}
#endif
