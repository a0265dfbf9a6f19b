#if Drawing
/// The rule that determines the inside of a path that crosses itself.
public enum FillRule: Sendable, Hashable {
  /// The inside consists of points that the path encircles more often in one direction than in the other.
  case winding
  /// The inside consists of points that the path encircles an odd number of times.
  case evenOdd
}
#endif
