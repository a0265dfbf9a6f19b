#if Drawing
/// Text and how it looks: in one font and colour, of any number of lines, in any script.
///
/// Pango shapes it: ligatures, marks, scripts that run from right to left, also mixed with others, and emoji if there
/// is a font that has them.
public struct Text: Sendable, Hashable {
  /// Where lines begin.
  public enum Alignment: Sendable, Hashable {
    /// Where reading begins: left, or right in text that runs from right to left.
    case leading
    /// In the middle.
    case center
    /// Where reading ends.
    case trailing
  }

  /// In which direction text runs as a whole.
  public enum Direction: Sendable, Hashable {
    /// As the first letter of each paragraph that has a direction.
    case natural
    /// From left to right.
    case leftToRight
    /// From right to left.
    case rightToLeft
  }

  /// The characters; a line end begins another paragraph.
  public var string: String
  /// The font.
  public var font: Font
  /// The colour; emoji have their own.
  public var color: Color
  /// Where lines begin.
  public var alignment: Alignment
  /// In which direction it runs as a whole.
  public var direction: Direction
  /// How many lines are shown at most; of more, the last ends with an ellipsis.
  ///
  /// Nil for all.
  public var maximumLineCount: Int?
  /// How much larger the distance between lines is than the font's.
  public var lineSpacing: Double

  /// Creates text.
  ///
  /// - Parameters:
  ///   - string: The characters.
  ///   - font: The font.
  ///   - color: The colour.
  ///   - alignment: Where lines begin.
  ///   - direction: In which direction it runs as a whole.
  ///   - maximumLineCount: How many lines are shown at most, one or more; nil for all.
  ///   - lineSpacing: How much larger the distance between lines is than the font's, in points.
  public init(
    _ string: String, font: Font, color: Color = .black, alignment: Alignment = .leading,
    direction: Direction = .natural, maximumLineCount: Int? = nil, lineSpacing: Double = 0
  ) {
    (self.string, self.font, self.color, self.alignment) = (string, font, color, alignment)
    (self.direction, self.maximumLineCount, self.lineSpacing) = (direction, maximumLineCount, lineSpacing)
  }
}
#endif
