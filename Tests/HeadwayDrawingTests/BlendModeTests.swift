#if Drawing
import HeadwayDrawing
import Testing

@Suite("Blend modes", .hangLimit) struct BlendModeTests {
  /// A blend mode with its formula for a component of two opaque colors, from 0 to 1.
  struct Formula: Sendable, CustomStringConvertible {
    let description: String
    let mode: BlendMode
    let result: @Sendable (_ below: Double, _ above: Double) -> Double

    init(_ description: String, _ mode: BlendMode, _ result: @escaping @Sendable (Double, Double) -> Double) {
      (self.description, self.mode, self.result) = (description, mode, result)
    }
  }

  static let formulas = [
    Formula("normal", .normal) { _, above in above },
    Formula("copy", .copy) { _, above in above },
    Formula("atop", .atop) { _, above in above },
    Formula("multiply", .multiply) { $0 * $1 },
    Formula("screen", .screen) { 1 - (1 - $0) * (1 - $1) },
    Formula("overlay", .overlay) { below, above in
      below <= 0.5 ? 2 * below * above : 1 - 2 * (1 - below) * (1 - above)
    },
    Formula("darken", .darken) { min($0, $1) },
    Formula("lighten", .lighten) { max($0, $1) },
    Formula("difference", .difference) { abs($0 - $1) },
    Formula("add", .add) { min(1, $0 + $1) },
  ]

  // Each formula has its own result for these colors; for each component, another color is the lighter one.
  private let below = Color(red: 0.8, green: 0.4, blue: 0.2)
  private let above = Color(red: 0.6, green: 0.5, blue: 0.9)

  /// Draws over the left half of a picture whose upper half is filled.
  private func picture(_ mode: BlendMode, _ color: Color) throws -> Image {
    try Image(width: 8, height: 8) { context in
      context.fill(Rectangle(0, 0, 8, 4), with: .color(below))
      context.setBlendMode(mode)
      context.fill(Rectangle(0, 0, 4, 8), with: .color(color))
    }
  }

  private func blended(_ formula: Formula) -> Color {
    Color(
      red: formula.result(below.red, above.red), green: formula.result(below.green, above.green),
      blue: formula.result(below.blue, above.blue))
  }

  @Test("R1: a blend mode combines each component of two colors by its formula", arguments: formulas)
  func opaque(formula: Formula) throws {
    let image = try picture(formula.mode, above)
    expect(image, at: 2, 2, blended(formula))
    // Where nothing is drawn, and where nothing was drawn before.
    expect(image, at: 6, 2, below)
    expect(image, at: 2, 6, formula.mode == .atop ? .clear : above)
    expect(image, at: 6, 6, .clear)
  }

  @Test("R1: a color with an opacity is blended in proportion to it", arguments: formulas)
  func translucent(formula: Formula) throws {
    let image = try picture(formula.mode, above.opacity(0.25))
    let whole = blended(formula)
    func mixed(_ below: Double, _ whole: Double) -> Double { 0.75 * below + 0.25 * whole }
    switch formula.mode {
    case .copy: expect(image, at: 2, 2, above.opacity(0.25), within: 0.02)
    case .add:
      expect(
        image, at: 2, 2,
        Color(
          red: min(1, below.red + 0.25 * above.red), green: below.green + 0.25 * above.green,
          blue: below.blue + 0.25 * above.blue), within: 0.02)
    default:
      expect(
        image, at: 2, 2,
        Color(
          red: mixed(below.red, whole.red), green: mixed(below.green, whole.green),
          blue: mixed(below.blue, whole.blue)), within: 0.02)
    }
    expect(image, at: 2, 6, formula.mode == .atop ? .clear : above.opacity(0.25), within: 0.02)
  }

  @Test("R1: erasing removes existing pixels in proportion to the opacity, whatever the color") func erase() throws {
    let image = try picture(.erase, above)
    expect(image, at: 2, 2, .clear)
    expect(image, at: 6, 2, below)
    expect(image, at: 2, 6, .clear)
    expect(try picture(.erase, above.opacity(0.25)), at: 2, 2, below.opacity(0.75), within: 0.02)
  }
}
#endif
