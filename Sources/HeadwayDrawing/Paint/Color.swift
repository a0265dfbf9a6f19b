#if Drawing
/// A colour in sRGB, with an opacity.
public struct Color: Sendable, Hashable {
  /// The red component, from 0 to 1.
  public var red: Double
  /// The green component, from 0 to 1.
  public var green: Double
  /// The blue component, from 0 to 1.
  public var blue: Double
  /// How opaque it is: from 0, which can't be seen, to 1.
  public var opacity: Double

  /// Creates a colour.
  ///
  /// Components outside of 0 to 1 count as the nearest of these. A drawing with one that is no number ends with a
  /// ``DrawingError``.
  ///
  /// - Parameters:
  ///   - red: The red component.
  ///   - green: The green component.
  ///   - blue: The blue component.
  ///   - opacity: How opaque it is.
  public init(red: Double, green: Double, blue: Double, opacity: Double = 1) {
    (self.red, self.green, self.blue, self.opacity) = (red, green, blue, opacity)
  }

  /// Creates a shade of grey.
  ///
  /// - Parameters:
  ///   - white: From 0, black, to 1, white.
  ///   - opacity: How opaque it is.
  public init(white: Double, opacity: Double = 1) {
    self.init(red: white, green: white, blue: white, opacity: opacity)
  }

  /// Creates a colour of a number, as in style sheets: `Color(hex: 0xFF8000)`.
  ///
  /// - Parameters:
  ///   - hex: Red, green and blue, a byte each.
  ///   - opacity: How opaque it is.
  public init(hex: UInt32, opacity: Double = 1) {
    func component(_ shift: UInt32) -> Double { Double(hex >> shift & 0xFF) / 255 }
    self.init(red: component(16), green: component(8), blue: component(0), opacity: opacity)
  }

  /// The colour with another opacity.
  ///
  /// - Parameter opacity: The opacity.
  /// - Returns: The colour.
  public func opacity(_ opacity: Double) -> Color {
    Color(red: red, green: green, blue: blue, opacity: opacity)
  }

  /// Whether each component counts as one from 0 to 1; of one that is no number, nothing is the nearest.
  var isDrawable: Bool { !(red.isNaN || green.isNaN || blue.isNaN || opacity.isNaN) }

  /// Black.
  public static let black = Color(white: 0)
  /// White.
  public static let white = Color(white: 1)
  /// Grey.
  public static let gray = Color(white: 0.5)
  /// Red.
  public static let red = Color(red: 1, green: 0, blue: 0)
  /// Green, of full brightness.
  public static let green = Color(red: 0, green: 1, blue: 0)
  /// Blue.
  public static let blue = Color(red: 0, green: 0, blue: 1)
  /// Nothing that can be seen.
  public static let clear = Color(white: 0, opacity: 0)
}
#endif
