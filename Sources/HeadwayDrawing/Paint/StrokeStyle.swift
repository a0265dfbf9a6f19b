#if Drawing
/// How a line along a path looks.
public struct StrokeStyle: Sendable, Hashable {
  /// How a line ends.
  public enum Cap: Sendable, Hashable {
    /// At its end.
    case butt
    /// With half a circle behind its end.
    case round
    /// With half a square behind its end.
    case square
  }

  /// How two lines meet.
  public enum Join: Sendable, Hashable {
    /// With a sharp corner, unless the miter limit cuts it.
    case miter
    /// With a round corner.
    case round
    /// With a cut corner.
    case bevel
  }

  /// The width of the line, in points.
  public var width: Double
  /// How it ends.
  public var cap: Cap
  /// How its parts meet.
  public var join: Join
  /// How many times longer than wide a sharp corner may be before it is cut.
  public var miterLimit: Double
  /// The lengths of dashes and of the gaps between them, in turn; empty for a line without gaps.
  public var dashes: [Double]
  /// How far into the dashes the line begins.
  public var dashPhase: Double

  /// Creates a style.
  ///
  /// - Parameters:
  ///   - width: The width of the line, in points.
  ///   - cap: How it ends.
  ///   - join: How its parts meet.
  ///   - miterLimit: How many times longer than wide a sharp corner may be.
  ///   - dashes: The lengths of dashes and gaps, in turn.
  ///   - dashPhase: How far into the dashes the line begins.
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
