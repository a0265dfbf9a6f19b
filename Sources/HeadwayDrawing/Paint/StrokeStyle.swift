#if Drawing
/// The appearance of a line along a path.
public struct StrokeStyle: Sendable, Hashable {
  /// The shape of a line's ends.
  public enum Cap: Sendable, Hashable {
    /// The line has no extension beyond its end point.
    case butt
    /// A half circle extends the line beyond its end point.
    case round
    /// Half a square extends the line beyond its end point.
    case square
  }

  /// The shape of the corner where two lines meet.
  public enum Join: Sendable, Hashable {
    /// A sharp corner, unless the miter limit cuts it.
    case miter
    /// A rounded corner.
    case round
    /// A cut corner.
    case bevel
  }

  /// The width of the line, in points.
  public var width: Double
  /// The shape of its ends.
  public var cap: Cap
  /// The shape of its corners.
  public var join: Join
  /// The maximum ratio of a sharp corner's length to the line width.
  ///
  /// Beyond this ratio, the corner is cut.
  public var miterLimit: Double
  /// The lengths of dashes and gaps, alternating; empty for a solid line.
  public var dashes: [Double]
  /// The offset into the dash pattern at the start of the line.
  public var dashPhase: Double

  /// Creates a style.
  ///
  /// - Parameters:
  ///   - width: The width of the line, in points.
  ///   - cap: The shape of its ends.
  ///   - join: The shape of its corners.
  ///   - miterLimit: The maximum ratio of a sharp corner's length to the line width.
  ///   - dashes: The lengths of dashes and gaps, alternating.
  ///   - dashPhase: The offset into the dash pattern at the start of the line.
  public init(
    width: Double = 1, cap: Cap = .butt, join: Join = .miter, miterLimit: Double = 10, dashes: [Double] = [],
    dashPhase: Double = 0
  ) {
    (self.width, self.cap, self.join, self.miterLimit) = (width, cap, join, miterLimit)
    (self.dashes, self.dashPhase) = (dashes, dashPhase)
  }

  var isFinite: Bool { dashes.reduce(width + miterLimit + dashPhase, +).isFinite }
}
#endif
