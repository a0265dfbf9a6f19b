#if Drawing
/// A smooth transition between colors.
public struct Gradient: Sendable, Hashable {
  /// A color and its location.
  public struct Stop: Sendable, Hashable {
    /// The color.
    public var color: Color
    /// The location of the color: from 0, the beginning, to 1, the end.
    public var location: Double

    /// Creates a stop.
    ///
    /// - Parameters:
    ///   - color: The color at the location.
    ///   - location: The location, from 0 to 1.
    public init(_ color: Color, at location: Double) { (self.color, self.location) = (color, location) }
  }

  /// The colors with their locations.
  public var stops: [Stop]

  /// Creates a gradient from stops.
  ///
  /// - Parameter stops: The colors with their locations.
  public init(stops: [Stop]) { self.stops = stops }

  /// Creates a gradient of equally spaced colors.
  ///
  /// - Parameter colors: The colors, from the beginning to the end.
  public init(_ colors: [Color]) {
    let last = Double(max(1, colors.count - 1))
    stops = colors.enumerated().map { Stop($0.element, at: Double($0.offset) / last) }
  }

  /// Whether none of the numbers is NaN.
  var isDrawable: Bool { stops.allSatisfy { $0.color.isDrawable && !$0.location.isNaN } }
}
#endif
