#if Drawing
/// The font of a text.
///
/// If the system does not have the font, the closest font is used instead. The same applies to each character that the
/// font does not contain.
public struct Font: Sendable, Hashable {
  /// The weight of a font.
  public struct Weight: Sendable, Hashable {
    /// The weight, from 100 (thin) to 1000; 400 is regular.
    public var value: Int

    /// Creates a weight.
    ///
    /// - Parameter value: The weight, from 100 to 1000.
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

  /// The name of the family, or several names separated by commas in order of preference.
  ///
  /// `Sans`, `Serif` and `Monospace` always exist.
  public var family: String
  /// The size, in points: approximately the height of a line.
  ///
  /// A drawing ends with a ``DrawingError`` if the size exceeds 60,000 pixels. At more than one pixel per point, the
  /// limit in points is 60,000 divided by the square of the pixels per point. For example, at 72 pixels per point, the
  /// limit is about 11 points.
  public var size: Double
  /// The weight of the font.
  public var weight: Weight
  /// Whether the font is italic.
  public var isItalic: Bool

  /// Creates a font.
  ///
  /// - Parameters:
  ///   - family: The name of the family, or several names separated by commas.
  ///   - size: The size, in points.
  ///   - weight: The weight of the font.
  ///   - isItalic: Whether the font is italic.
  public init(_ family: String = "Sans", size: Double, weight: Weight = .regular, isItalic: Bool = false) {
    (self.family, self.size, self.weight, self.isItalic) = (family, size, weight, isItalic)
  }
}
#endif
