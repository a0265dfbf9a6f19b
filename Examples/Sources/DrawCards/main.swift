// Draws a card off the main thread and writes it to a file. This is the picture in the guide of HeadwayDrawing.
//
//   DrawCards [FILE]    writes FILE, a PNG

import Headway
import HeadwayDrawing

/// A small photograph, as if read from a file.
let photo = try Image(width: 160, height: 120) { context in
  let sky = Gradient([Color(rgb: 0x3A6EA5), Color(rgb: 0xF6D365)])
  context.fill(context.bounds, with: .linearGradient(sky, from: .zero, to: Point(0, 120)))
  context.fill(Path(ellipseIn: Rectangle(100, 20, 36, 36)), with: .color(Color(rgb: 0xFFF3B0)))
  for (x, height, shade) in [(-20.0, 70.0, 0.35), (40, 55, 0.28), (85, 80, 0.2)] {
    let hill = Path { path in
      path.addLines([Point(x, 120), Point(x + 50, 120 - height), Point(x + 100, 120)])
      path.closeSubpath()
    }
    context.fill(hill, with: .color(Color(red: shade * 0.5, green: shade, blue: shade * 0.9)))
  }
}

let card = DrawingOperation(width: 240, height: 120, scale: 2) { context in
  let frame = context.bounds.inset(by: 4)
  context.fill(Path(frame, cornerRadius: 14), with: .color(Color(rgb: 0xFDFBF7)))

  // The photograph, in a circle.
  let portrait = Rectangle(18, 20, 80, 80)
  context.withSavedState {
    context.clip(to: Path(ellipseIn: portrait))
    context.draw(photo, in: Rectangle(portrait.center.x - 54, portrait.minimumY, 107, 80))
  }
  context.stroke(Path(ellipseIn: portrait), with: .color(Color(rgb: 0x3A6EA5)), width: 3)

  // Text in several scripts, limited to the available width.
  let title = Text("Sunrise over the hills", font: Font(size: 16, weight: .bold), color: Color(rgb: 0x22313F))
  let titleSize = context.measure(title, width: 118)
  context.draw(title, at: Point(110, 20), width: 118)
  let caption = Text(
    "Восход · שחר · ανατολή, and more words than two lines have room for", font: Font(size: 10),
    color: Color(white: 0.4), maxLineCount: 2)
  context.draw(caption, at: Point(110, 24 + titleSize.height), width: 118)

  // The distance, as a dashed line with a dot.
  let style = StrokeStyle(width: 2, cap: .round, dashes: [1, 5])
  context.stroke(Path(lineFrom: Point(112, 98), to: Point(222, 98)), with: .color(.gray), style: style)
  context.fill(Path(ellipseIn: Rectangle(160, 93, 10, 10)), with: .color(Color(rgb: 0xE4572E)))
}

let queue = OperationQueue(name: "drawing")
queue.addOperation(card)
let image = try await card.value
print("drawn: \(image)")
let (middle, corner) = (image.color(x: 240, y: 120), image.color(x: 0, y: 0))
print("opaque in the middle, transparent at the corner: \(middle.opacity), \(corner.opacity)")
print("read again: \(try Image(bytes: image.pngBytes()))")
if CommandLine.arguments.count > 1 { try image.write(to: CommandLine.arguments[1]) }
