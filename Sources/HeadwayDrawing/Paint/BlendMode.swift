#if Drawing
/// A rule that combines drawing with the existing pixels.
public struct BlendMode: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case normal, copy, erase, atop, multiply, screen, overlay, darken, lighten, difference, add
  }

  let kind: Kind

  /// Draws over the existing pixels.
  public static let normal = BlendMode(kind: .normal)
  /// Replaces the existing pixels, transparency included.
  public static let copy = BlendMode(kind: .copy)
  /// Removes the existing pixels in the drawn area.
  public static let erase = BlendMode(kind: .erase)
  /// Draws only over existing pixels.
  public static let atop = BlendMode(kind: .atop)
  /// The product of the two colors: never lighter than either.
  public static let multiply = BlendMode(kind: .multiply)
  /// The inverse of the product of the inverses: never darker than either.
  public static let screen = BlendMode(kind: .screen)
  /// Multiplies dark pixels and screens light pixels.
  public static let overlay = BlendMode(kind: .overlay)
  /// The darker of the two colors.
  public static let darken = BlendMode(kind: .darken)
  /// The lighter of the two colors.
  public static let lighten = BlendMode(kind: .lighten)
  /// The difference of the two colors.
  public static let difference = BlendMode(kind: .difference)
  /// The sum of the two colors.
  public static let add = BlendMode(kind: .add)
}
#endif
