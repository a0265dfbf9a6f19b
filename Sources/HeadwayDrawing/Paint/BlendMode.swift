#if Drawing
/// How what is drawn is combined with what is there.
public struct BlendMode: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case normal, copy, erase, atop, multiply, screen, overlay, darken, lighten, difference, add
  }

  let kind: Kind

  /// Over what is there.
  public static let normal = BlendMode(kind: .normal)
  /// In place of what is there, transparency included.
  public static let copy = BlendMode(kind: .copy)
  /// Removes what is there, where something is drawn.
  public static let erase = BlendMode(kind: .erase)
  /// Over what is there, and nowhere else.
  public static let atop = BlendMode(kind: .atop)
  /// The product of both: never lighter than either.
  public static let multiply = BlendMode(kind: .multiply)
  /// The inverse of the product of the inverses: never darker than either.
  public static let screen = BlendMode(kind: .screen)
  /// Multiplies where it is dark, and screens where it is light.
  public static let overlay = BlendMode(kind: .overlay)
  /// The darker of both.
  public static let darken = BlendMode(kind: .darken)
  /// The lighter of both.
  public static let lighten = BlendMode(kind: .lighten)
  /// The difference of both.
  public static let difference = BlendMode(kind: .difference)
  /// The sum of both.
  public static let add = BlendMode(kind: .add)
}
#endif
