import Headway
import HeadwayDrawing
import HeadwayTestKit

/// Writes JPEG files of 4000 × 3000 pixels with the detail of photographs: areas of color, edges, and grain.
func writePhotos(into folder: String, count: Int) async throws {
  let grain = try grainTile()
  try await withOperationQueue { queue in
    for number in 0..<count {
      queue.addOperation {
        try makePhoto(number, grain).write(to: "\(folder)/photo\(number).jpg", quality: 90)
      }
    }
  }
}

/// Transparent pixels of random darkness.
private func grainTile() throws -> Image {
  var generator = SeededGenerator(seed: 1)
  return try Image(width: 512, height: 512) { context in
    for _ in 0..<60_000 {
      let place = Rectangle(
        Double.random(in: 0..<512, using: &generator), Double.random(in: 0..<512, using: &generator), 1.5, 1.5)
      context.fill(place, with: .color(Color(white: Bool.random(using: &generator) ? 1 : 0, opacity: 0.12)))
    }
  }
}

private func makePhoto(_ number: Int, _ grain: Image) throws -> Image {
  var generator = SeededGenerator(seed: UInt64(number))
  func random(_ range: Range<Double>) -> Double { .random(in: range, using: &generator) }
  func color() -> Color { Color(red: random(0..<1), green: random(0..<1), blue: random(0..<1)) }
  return try Image(width: 4000, height: 3000) { context in
    context.fill(
      context.bounds, with: .linearGradient(Gradient([color(), color()]), from: .zero, to: Point(1000, 3000)))
    for _ in 0..<200 {
      let radius = random(20..<400)
      let center = Point(random(0..<4000), random(0..<3000))
      let frame = Rectangle(center.x - radius, center.y - radius, 2 * radius, 2 * radius)
      context.fill(
        Path(ellipseIn: frame),
        with: .radialGradient(
          Gradient([color(), color().opacity(0.5)]), center: center, endRadius: radius))
    }
    context.fill(context.bounds, with: .tiles(of: grain))
  }
}
