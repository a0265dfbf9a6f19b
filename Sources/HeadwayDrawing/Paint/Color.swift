#if Drawing
/// A color in sRGB, with an opacity.
public struct Color: Sendable, Hashable {
  /// The red component, from 0 to 1.
  public var red: Double
  /// The green component, from 0 to 1.
  public var green: Double
  /// The blue component, from 0 to 1.
  public var blue: Double
  /// The opacity, from 0 (invisible) to 1.
  public var opacity: Double

  /// Creates a color.
  ///
  /// Components outside the range 0 to 1 are clamped. If a component is not a number, a drawing that uses the color
  /// ends with a ``DrawingError``.
  ///
  /// - Parameters:
  ///   - red: The red component, from 0 to 1.
  ///   - green: The green component, from 0 to 1.
  ///   - blue: The blue component, from 0 to 1.
  ///   - opacity: The opacity, from 0 to 1.
  public init(red: Double, green: Double, blue: Double, opacity: Double = 1) {
    (self.red, self.green, self.blue, self.opacity) = (red, green, blue, opacity)
  }

  /// Creates a shade of gray.
  ///
  /// - Parameters:
  ///   - white: The brightness, from 0 (black) to 1 (white).
  ///   - opacity: The opacity, from 0 to 1.
  public init(white: Double, opacity: Double = 1) {
    self.init(red: white, green: white, blue: white, opacity: opacity)
  }

  /// Creates a color from a number, as in style sheets: `Color(rgb: 0xFF8000)`.
  ///
  /// - Parameters:
  ///   - rgb: Red, green, and blue, one byte per component.
  ///   - opacity: The opacity, from 0 to 1.
  public init(rgb: UInt32, opacity: Double = 1) {
    func component(_ shift: UInt32) -> Double { Double((rgb >> shift) & 0xFF) / 255 }
    self.init(red: component(16), green: component(8), blue: component(0), opacity: opacity)
  }

  /// Returns the color with another opacity.
  ///
  /// - Parameter opacity: The opacity of the copy, from 0 to 1.
  /// - Returns: A copy of the color with this opacity.
  public func opacity(_ opacity: Double) -> Color {
    Color(red: red, green: green, blue: blue, opacity: opacity)
  }

  /// Whether each component can be clamped to the range 0 to 1, which is impossible if it is not a number.
  var isDrawable: Bool { !(red.isNaN || green.isNaN || blue.isNaN || opacity.isNaN) }

  /// Black.
  public static let black = Color(white: 0)
  /// White.
  public static let white = Color(white: 1)
  /// Gray.
  public static let gray = Color(white: 0.5)
  /// Red.
  public static let red = Color(red: 1, green: 0, blue: 0)
  /// Green at full brightness.
  public static let green = Color(red: 0, green: 1, blue: 0)
  /// Blue.
  public static let blue = Color(red: 0, green: 0, blue: 1)
  /// Fully transparent.
  public static let clear = Color(white: 0, opacity: 0)
}
#endif
