#if Drawing
/// What is inside of a path that crosses itself.
public enum FillRule: Sendable, Hashable {
  /// What the path goes around, in one direction more often than in the other.
  case winding
  /// What the path goes around an odd number of times.
  case evenOdd
}
#endif
