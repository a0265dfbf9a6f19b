#if Drawing
/// Colours that go over into each other.
public struct Gradient: Sendable, Hashable {
  /// A colour and its place.
  public struct Stop: Sendable, Hashable {
    /// The colour.
    public var color: Color
    /// Where the colour is: from 0, the beginning, to 1, the end.
    public var location: Double

    /// Creates a stop.
    ///
    /// - Parameters:
    ///   - color: The colour.
    ///   - location: Where it is, from 0 to 1.
    public init(_ color: Color, at location: Double) { (self.color, self.location) = (color, location) }
  }

  /// The colours with their places.
  public var stops: [Stop]

  /// Creates a gradient of stops.
  ///
  /// - Parameter stops: The colours with their places.
  public init(stops: [Stop]) { self.stops = stops }

  /// Creates a gradient of colours at equal distances.
  ///
  /// - Parameter colors: The colours, from the beginning to the end.
  public init(_ colors: [Color]) {
    let last = Double(max(1, colors.count - 1))
    stops = colors.enumerated().map { Stop($0.element, at: Double($0.offset) / last) }
  }

  /// Whether all its numbers are some.
  var isDrawable: Bool { stops.allSatisfy { $0.color.isDrawable && !$0.location.isNaN } }
}
#endif
