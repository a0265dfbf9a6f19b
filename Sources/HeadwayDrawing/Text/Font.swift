#if Drawing
/// Which font to set text in.
///
/// What the system lacks is replaced by what comes closest, for each character that the font does not have too.
public struct Font: Sendable, Hashable {
  /// How heavy a font is.
  public struct Weight: Sendable, Hashable {
    /// From 100, thin, to 1000; 400 is regular.
    public var value: Int

    /// Creates a weight.
    ///
    /// - Parameter value: From 100 to 1000.
    public init(_ value: Int) { self.value = value }

    /// 300.
    public static let light = Weight(300)
    /// 400.
    public static let regular = Weight(400)
    /// 500.
    public static let medium = Weight(500)
    /// 600.
    public static let semibold = Weight(600)
    /// 700.
    public static let bold = Weight(700)
  }

  /// The name of the family, or several with commas, the best first; `Sans`, `Serif` and `Monospace` are always
  /// known.
  public var family: String
  /// The size, in points: about the height of a line.
  ///
  /// A drawing ends with a ``DrawingError`` where it is above 60,000 pixels, or, where a point is more than a pixel,
  /// above 60,000 divided by the square of the pixels a point: of text at 72 pixels a point, above 11 points.
  public var size: Double
  /// How heavy it is.
  public var weight: Weight
  /// Whether it is italic.
  public var isItalic: Bool

  /// Creates a font.
  ///
  /// - Parameters:
  ///   - family: The name of the family, or several with commas.
  ///   - size: The size, in points.
  ///   - weight: How heavy it is.
  ///   - isItalic: Whether it is italic.
  public init(_ family: String = "Sans", size: Double, weight: Weight = .regular, isItalic: Bool = false) {
    (self.family, self.size, self.weight, self.isItalic) = (family, size, weight, isItalic)
  }
}
#endif
