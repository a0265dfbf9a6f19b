#if Drawing
/// Text and its appearance: in one font and color, with any number of lines, in any script.
///
/// Pango lays out the text: ligatures, marks, scripts that run from right to left, mixed scripts, and emoji if a font
/// contains them.
public struct Text: Sendable, Hashable {
  /// The alignment of lines.
  public enum Alignment: Sendable, Hashable {
    /// The side where reading begins: left, or right in text that runs from right to left.
    case leading
    /// The middle between both sides.
    case center
    /// The side where reading ends.
    case trailing
  }

  /// The direction of the text as a whole.
  public enum Direction: Sendable, Hashable {
    /// The direction of the first letter in each paragraph that has a direction.
    case natural
    /// From left to right, as in Latin script.
    case leftToRight
    /// From right to left, as in Arabic and Hebrew.
    case rightToLeft
  }

  /// The characters.
  ///
  /// A line break begins a new paragraph.
  public var string: String
  /// The font.
  public var font: Font
  /// The color; emoji have their own colors.
  public var color: Color
  /// The alignment of lines.
  public var alignment: Alignment
  /// The direction of the text as a whole.
  public var direction: Direction
  /// The maximum number of lines.
  ///
  /// If the text is longer, the last line gets an ellipsis.
  ///
  /// Nil for no limit.
  public var maxLineCount: Int?
  /// The extra distance between lines, in points, in addition to the font's own distance.
  public var lineSpacing: Double

  /// Creates text.
  ///
  /// - Parameters:
  ///   - string: The characters to draw.
  ///   - font: The font of all characters.
  ///   - color: The color; emoji have their own colors.
  ///   - alignment: The alignment of lines.
  ///   - direction: The direction of the text as a whole.
  ///   - maxLineCount: The maximum number of lines, one or more; nil for no limit.
  ///   - lineSpacing: The extra distance between lines, in points, in addition to the font's own distance.
  public init(
    _ string: String, font: Font, color: Color = .black, alignment: Alignment = .leading,
    direction: Direction = .natural, maxLineCount: Int? = nil, lineSpacing: Double = 0
  ) {
    (self.string, self.font, self.color, self.alignment) = (string, font, color, alignment)
    (self.direction, self.maxLineCount, self.lineSpacing) = (direction, maxLineCount, lineSpacing)
  }
}
#endif
