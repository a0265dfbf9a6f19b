#if Drawing
import Foundation
import HeadwayDrawing
import HeadwayTestKit
import Testing

@Suite("Drawing content", .hangLimit) struct DrawingContentTests {
  private func draw(_ width: Double = 40, _ height: Double = 40, _ body: (DrawingContext) throws -> Void) throws
    -> Image
  {
    try Image(width: width, height: height, draw: body)
  }

  @Test("R1: coordinates are points from the top left corner, at any scale", arguments: [1.0, 1.5, 2, 3])
  func coordinates(scale: Double) throws {
    let image = try Image(width: 20, height: 10, scale: scale) { context in
      #expect(context.size == Size(20, 10) && context.scale == scale)
      context.fill(Rectangle(0, 0, 10, 5), with: .color(.red))
      context.fill(Rectangle(10, 5, 10, 5), with: .color(.blue))
    }
    #expect((image.pixelWidth, image.pixelHeight) == (Int(20 * scale), Int(10 * scale)))
    expect(image, at: 1, 1, .red)
    expect(image, at: image.pixelWidth - 2, image.pixelHeight - 2, .blue)
    expect(image, at: image.pixelWidth - 2, 1, .clear)
  }

  @Test("R1: paths of all elements are filled and stroked") func paths() throws {
    let image = try draw { context in
      var star = Path()
      star.addLines([Point(20, 2), Point(31, 36), Point(2, 15), Point(38, 15), Point(9, 36)])
      star.closeSubpath()
      context.fill(star, with: .color(.red), rule: .evenOdd)
      context.stroke(Path(lineFrom: Point(0, 39), to: Point(40, 39)), with: .color(.blue), width: 2)
    }
    expect(image, at: 20, 8, .red)
    expect(image, at: 20, 20, .clear)  // The path encloses the area twice.
    expect(image, at: 20, 38, .blue)
    let curves = try draw { context in
      var pie = Path()
      pie.move(to: Point(20, 20))
      pie.addArc(center: Point(20, 20), radius: 18, from: 0, to: .pi / 2)
      pie.closeSubpath()
      context.fill(pie, with: .color(.red))
      let wave = Path {
        $0.move(to: Point(0, 20))
        $0.addCurve(to: Point(20, 0), control1: Point(0, 0), control2: Point(0, 0))
        $0.addLine(to: Point(20, 20))
      }
      context.fill(wave, with: .color(.green))
    }
    expect(curves, at: 26, 26, .red)
    expect(curves, at: 37, 37, .clear)
    expect(curves, at: 14, 14, .green)
    expect(curves, at: 0, 0, .clear)
  }

  @Test("R1: round corners, ellipses, and arcs in both directions") func roundings() throws {
    let image = try draw(40, 20) { context in
      context.fill(Path(Rectangle(0, 0, 20, 20), cornerRadius: 8), with: .color(.red))
      context.fill(Path(ellipseIn: Rectangle(20, 0, 20, 20)), with: .color(.blue))
    }
    for (x, y) in [(0, 0), (19, 0), (0, 19), (19, 19), (21, 1), (39, 19)] { expect(image, at: x, y, .clear) }
    for (x, y) in [(10, 0), (0, 10), (10, 10), (10, 19)] { expect(image, at: x, y, .red) }
    for (x, y) in [(30, 1), (30, 10), (21, 10), (38, 10)] { expect(image, at: x, y, .blue) }
    let arcs = try draw { context in
      var path = Path()
      path.addArc(center: Point(20, 20), radius: 15, from: 0, to: .pi / 2, isCounterclockwise: true)
      context.stroke(path, with: .color(.red), width: 4)
    }
    expect(arcs, at: 20, 5, .red)
    expect(arcs, at: 31, 31, .clear)
  }

  @Test("R1: a gradient changes from the first color to the last, and continues with the last color") func gradients()
    throws
  {
    let image = try draw { context in
      let gradient = Gradient([.red, .green, .blue])
      context.fill(
        Rectangle(0, 0, 40, 20), with: .linearGradient(gradient, from: Point(10, 0), to: Point(30, 0)))
      context.fill(
        Rectangle(0, 20, 40, 20),
        with: .radialGradient(Gradient([.white, .black]), center: Point(20, 30), endRadius: 10))
    }
    expect(image, at: 2, 10, .red)
    expect(image, at: 20, 10, .green, within: 0.06)
    expect(image, at: 38, 10, .blue)
    expect(image, at: 15, 10, Color(red: 0.45, green: 0.55, blue: 0), within: 0.06)
    expect(image, at: 20, 30, .white, within: 0.1)
    expect(image, at: 1, 38, .black)
  }

  @Test("R1: lines are stroked with the specified dashes, caps, and joins") func strokes() throws {
    let image = try draw { context in
      let line = Path(lineFrom: Point(5, 5), to: Point(35, 5))
      context.stroke(line, with: .color(.red), style: StrokeStyle(width: 4, dashes: [10, 10]))
      let short = Path(lineFrom: Point(10, 20), to: Point(20, 20))
      context.stroke(short, with: .color(.red), style: StrokeStyle(width: 8, cap: .square))
      let corner = Path { $0.addLines([Point(25, 38), Point(35, 38), Point(35, 28)]) }
      context.stroke(corner, with: .color(.blue), style: StrokeStyle(width: 4, join: .bevel))
    }
    expect(image, at: 10, 5, .red)
    expect(image, at: 20, 5, .clear)
    expect(image, at: 30, 5, .red)
    expect(image, at: 7, 20, .red)
    expect(image, at: 4, 20, .clear)
    expect(image, at: 36, 39, .clear)
    expect(image, at: 30, 38, .blue)
  }

  @Test("R1: restoring a saved state undoes transformations and clips") func state() throws {
    let image = try draw { context in
      context.withSavedState {
        context.translate(x: 20, y: 20)
        context.rotate(byRadians: .pi / 2)
        context.scale(x: 2, y: 1)
        context.fill(Rectangle(0, 0, 5, 5), with: .color(.red))  // Ten high, five wide, left of the origin.
      }
      context.withSavedState {
        context.clip(to: Path(Rectangle(0, 0, 4, 4)))
        context.fill(context.bounds, with: .color(.blue))
      }
      context.withSavedState {
        context.concatenate(Transform(a: 1, b: 0, c: 0, d: -1, x0: 0, y0: 40))
        context.fill(Rectangle(0, 0, 4, 4), with: .color(.green))
      }
      context.fill(Rectangle(38, 38, 2, 2), with: .color(.black))
    }
    expect(image, at: 17, 28, .red)
    expect(image, at: 22, 22, .clear)
    expect(image, at: 2, 2, .blue)
    expect(image, at: 6, 6, .clear)
    expect(image, at: 1, 38, .green)
    expect(image, at: 39, 39, .black)
  }

  @Test("R1: the saved state is restored even if the closure throws") func stateAfterError() throws {
    struct Failure: Error {}
    let image = try draw { context in
      try? context.withSavedState {
        context.translate(x: 100, y: 100)
        throw Failure()
      }
      context.fill(Rectangle(0, 0, 4, 4), with: .color(.red))
    }
    expect(image, at: 2, 2, .red)
  }

  @Test("R1: opacity applies to a layer as a whole") func layers() throws {
    let image = try draw { context in
      context.fill(context.bounds, with: .color(.white))
      context.withLayer(opacity: 0.5) {
        context.fill(Rectangle(0, 0, 20, 20), with: .color(.black))
        context.fill(Rectangle(10, 0, 20, 20), with: .color(.black))
      }
      context.clear(Rectangle(0, 30, 10, 10))
    }
    expect(image, at: 5, 5, .gray)
    expect(image, at: 15, 5, .gray)  // The opacity is applied once, although the pixel is covered twice.
    expect(image, at: 5, 35, .clear)
  }

  @Test("R1: images are drawn in rectangles, with opacity, and as tiles") func images() throws {
    let source = try cornered(8, 8)
    let image = try draw { context in
      context.draw(source, in: Rectangle(0, 0, 20, 20), isSmooth: false)
      context.draw(source, at: Point(20, 0))
      context.draw(source, in: Rectangle(20, 20, 20, 20), opacity: 0.5)
      context.fill(Rectangle(0, 24, 16, 16), with: .tiles(of: source, origin: Point(0, 24)))
    }
    expect(image, at: 0, 0, .red)
    expect(image, at: 4, 4, .red)
    expect(image, at: 19, 19, .white)
    expect(image, at: 20, 0, .red)
    expect(image, at: 27, 0, .green)
    expect(image, at: 28, 0, .clear)
    expect(image, at: 20, 20, .red.opacity(0.5))
    expect(image, at: 8, 24, .red)
    expect(image, at: 15, 39, .white)
    // At half the size, each pixel is a mean.
    let small = try draw(4, 4) { $0.draw(source, in: $0.bounds) }
    expect(small, at: 0, 0, .red, within: 0.15)
    expect(small, at: 3, 3, .white, within: 0.15)
    let fine = try Image(width: 4, height: 4, scale: 2) { $0.draw(source, in: $0.bounds) }
    #expect(difference(fine, source)?.largest == 0)
  }

  // MARK: Text

  private let font = Font(size: 12)

  /// The columns that contain drawn pixels.
  private func columns(_ image: Image) -> ClosedRange<Int>? {
    let inked = (0..<image.pixelWidth).filter { x in
      (0..<image.pixelHeight).contains { image.color(x: x, y: $0).opacity > 0.3 }
    }
    guard let first = inked.first, let last = inked.last else { return nil }
    return first...last
  }

  @Test("R1: text has the size that was measured, and is wrapped and truncated as requested") func text() throws {
    let long = Text("several words, more than one line", font: font)
    var cut = long
    cut.maxLineCount = 1
    let image = try draw(100, 60) { context in
      let (line, broken) = (context.measure(long), context.measure(long, width: 100))
      #expect(line.width > 120 && broken.width <= 100)
      #expect(broken.height > 1.5 * line.height)
      #expect(abs(context.measure(cut, width: 100).height - line.height) < 1)
      #expect(context.measure(Text("", font: font)).width == 0)
      #expect(
        context.measure(Text("wide", font: Font(size: 24))).width > context.measure(Text("wide", font: font)).width
          * 1.9)
      context.draw(long, at: .zero, width: 100)
    }
    let inked = try #require(columns(image))
    #expect(inked.lowerBound < 4 && inked.upperBound > 60)
  }

  @Test("R1: a NUL in text is measured and drawn as a replacement character, and does not end the text")
  func textWithNUL() throws {
    let (whole, replaced) = (Text("ab\0cd", font: font), Text("ab\u{FFFD}cd", font: font))
    func picture(_ text: Text) throws -> Image { try draw(60, 20) { $0.draw(text, at: .zero) } }
    _ = try draw { context in
      #expect(context.measure(whole) == context.measure(replaced))
      #expect(context.measure(whole).width > context.measure(Text("ab", font: font)).width)
    }
    #expect(try difference(picture(whole), picture(replaced))?.largest == 0)
    // The text after the character is drawn, so it makes a difference whether there is any.
    for shorter in ["ab", "ab\0"] {
      #expect(try difference(picture(whole), picture(Text(shorter, font: font)))?.largest ?? 0 > 0.5)
    }
    let (inked, start) = (try #require(columns(picture(whole))), try #require(columns(picture(Text("ab", font: font)))))
    #expect(inked.upperBound > start.upperBound + 12)
  }

  @Test("R1: right-to-left text begins at the right, unless alignment or direction are specified")
  func directions() throws {
    func drawn(_ text: Text) throws -> ClosedRange<Int> {
      try #require(columns(draw(100, 20) { $0.draw(text, in: $0.bounds) }))
    }
    let (latin, hebrew) = (Text("abc", font: font), Text("שלום", font: font))
    #expect(try drawn(latin).upperBound < 50)
    #expect(try drawn(hebrew).lowerBound > 50)
    var aligned = latin
    aligned.alignment = .trailing
    #expect(try drawn(aligned).lowerBound > 50)
    aligned.alignment = .center
    let middle = try drawn(aligned)
    #expect(abs(middle.lowerBound + middle.upperBound - 100) < 6)
    var forced = latin
    forced.direction = .rightToLeft
    #expect(try drawn(forced).lowerBound > 50)
    // The direction of one text does not affect the next.
    let both = try draw(100, 40) { context in
      context.draw(forced, in: Rectangle(0, 0, 100, 20))
      context.draw(Text("123", font: font), in: Rectangle(0, 20, 100, 20))
    }
    #expect((0..<50).contains { x in (20..<40).contains { both.color(x: x, y: $0).opacity > 0.3 } })
  }

  @Test(
    "R1: any text can be drawn",
    arguments: [
      "", "\n\n", "a\0b", "👩‍👩‍👧‍👦🏳️‍🌈", "e\u{301}\u{300}\u{302}", "العربية و English معاً", "नमस्ते",
      "\u{202E}reversed",
      "\u{FFFF}\u{10FFFF}", String(repeating: "long ", count: 2_000),
    ])
  func anyText(_ string: String) throws {
    _ = try draw(100, 40) { context in
      context.draw(Text(string, font: font, maxLineCount: 3), in: context.bounds)
      #expect(context.measure(Text(string, font: font)).height > 0)
      context.draw(Text("x", font: Font("No Such Family", size: 10, weight: .bold, isItalic: true)), at: .zero)
      context.draw(Text("x", font: Font(size: 0)), at: .zero)
      context.draw(Text("x", font: Font(size: -3)), at: .zero)
    }
  }

  // MARK: Complete pictures

  @Test("R1: a picture with all features matches the stored picture") func stored() throws {
    try expectStored(scenery(96, 64), "scenery")
    let shapes = try draw(96, 64) { context in
      context.fill(context.bounds, with: .color(.white))
      context.fill(
        Path(Rectangle(6, 6, 36, 24), cornerRadius: 6),
        with: .linearGradient(Gradient([.red, .blue]), from: Point(6, 6), to: Point(42, 30)))
      context.stroke(
        Path(ellipseIn: Rectangle(50, 6, 40, 24)), with: .color(.black),
        style: StrokeStyle(width: 3, cap: .round, dashes: [6, 5]))
      context.withLayer(opacity: 0.6) {
        context.fill(Path(ellipseIn: Rectangle(10, 34, 26, 26)), with: .color(.green))
        context.fill(Path(ellipseIn: Rectangle(24, 34, 26, 26)), with: .color(.red))
      }
      context.draw(try cornered(), in: Rectangle(56, 36, 32, 24))
    }
    try expectStored(shapes, "shapes")
  }

  @Test("R1: the picture in the documentation matches its description") func guide() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let catalogue = root.appendingPathComponent("Sources/HeadwayDrawing/HeadwayDrawing.docc")
    let card = try Image(contentsOf: catalogue.appendingPathComponent("Resources/card.png").path)
    #expect(card.pixelWidth == 480 && card.pixelHeight == 240)
    expect(card, at: 0, 0, .clear)
    expect(card, at: 300, 20, Color(rgb: 0xFDFBF7))
    expect(card, at: 330, 196, Color(rgb: 0xE4572E))
    expect(card, at: 165, 90, Color(rgb: 0xFFF3B0))  // The sun.
    expect(card, at: 116, 37, Color(rgb: 0x3A6EA5), within: 0.05)  // The frame of the circle.
    // Dark letters in the title, and gray ones in both lines of the caption.
    func darkest(_ rows: Range<Int>) -> Double {
      rows.lazy.flatMap { y in (220..<450).lazy.map { card.color(x: $0, y: y).green } }.min() ?? 1
    }
    #expect(darkest(44..<72) < 0.3 && darkest(126..<145) < 0.6 && darkest(150..<165) < 0.6)
  }

  @Test("R1: rectangles, paths, colors, and gradients have the expected values") func geometry() {
    #expect(Rectangle(0, 0, 100, 50).fitting(Size(10, 10)) == Rectangle(25, 0, 50, 50))
    #expect(Rectangle(10, 10, 20, 20).inset(by: 5) == Rectangle(15, 15, 10, 10))
    #expect(Rectangle(1, 2, 3, 4).maximumY == 6 && Rectangle(1, 2, 3, 4).maximumX == 4)
    #expect(Path().isEmpty && !Path(Rectangle(0, 0, 1, 1)).isEmpty)
    #expect(Color(rgb: 0xFF8000) == Color(red: 1, green: 128.0 / 255, blue: 0))
    #expect(Gradient([.red]).stops == [Gradient.Stop(.red, at: 0)])
  }
}
#endif
