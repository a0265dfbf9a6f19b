#if Drawing
import Foundation
import HeadwayDrawing
import Testing

/// A picture with known corners: red, green, blue, and white at the bottom right; gray between them.
func cornered(_ width: Int = 64, _ height: Int = 48) throws -> Image {
  try Image(width: Double(width), height: Double(height)) { context in
    context.fill(context.bounds, with: .color(.gray))
    let size = Size(context.size.width / 4, context.size.height / 4)
    let (right, bottom) = (context.size.width - size.width, context.size.height - size.height)
    context.fill(Rectangle(origin: .zero, size: size), with: .color(.red))
    context.fill(Rectangle(origin: Point(right, 0), size: size), with: .color(.green))
    context.fill(Rectangle(origin: Point(0, bottom), size: size), with: .color(.blue))
    context.fill(Rectangle(origin: Point(right, bottom), size: size), with: .color(.white))
  }
}

/// A picture like a photograph: color gradients, edges, and detail.
func scenery(_ width: Int = 200, _ height: Int = 150, opacity: Double = 1) throws -> Image {
  try Image(width: Double(width), height: Double(height)) { context in
    let (w, h) = (context.size.width, context.size.height)
    let sky = Gradient([Color(rgb: 0x2266CC), Color(rgb: 0xFFEECC)])
    context.fill(
      context.bounds, with: .linearGradient(sky, from: .zero, to: Point(0, h)))
    context.fill(
      Path(ellipseIn: Rectangle(w * 0.6, h * 0.1, w * 0.2, w * 0.2)),
      with: .radialGradient(
        Gradient([.white, Color(rgb: 0xFFCC00)]), center: Point(w * 0.7, h * 0.1 + w * 0.1), endRadius: w * 0.1))
    for step in 0..<12 {
      let x = w * Double(step) / 12
      let tree = Path { path in
        path.addLines([Point(x, h), Point(x + w / 24, h * 0.6), Point(x + w / 12, h)])
        path.closeSubpath()
      }
      context.fill(tree, with: .color(Color(red: 0.1, green: 0.3 + 0.05 * Double(step), blue: 0.1, opacity: opacity)))
    }
  }
}

/// The difference between two pictures of the same size: the mean and the largest difference of all channels, from 0 to
/// 1.
func difference(_ left: Image, _ right: Image) -> (mean: Double, largest: Double)? {
  guard left.pixelWidth == right.pixelWidth, left.pixelHeight == right.pixelHeight else { return nil }
  return left.withUnsafeBytes { left in
    right.withUnsafeBytes { right in
      var (sum, largest) = (0, 0)
      for (a, b) in zip(left, right) {
        let distance = abs(Int(a) - Int(b))
        (sum, largest) = (sum + distance, max(largest, distance))
      }
      return (Double(sum) / Double(left.count) / 255, Double(largest) / 255)
    }
  }
}

/// Expects that a color is approximately as given.
func expect(
  _ image: Image, at x: Int, _ y: Int, _ color: Color, within tolerance: Double = 0.02,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let found = image.color(x: x, y: y)
  let distances = [
    found.red - color.red, found.green - color.green, found.blue - color.blue, found.opacity - color.opacity,
  ]
  #expect(
    distances.allSatisfy { abs($0) <= tolerance }, "at \(x), \(y): \(found) instead of \(color)",
    sourceLocation: sourceLocation)
}

/// Compares a picture with the picture that is stored under a name; writes it if `HEADWAY_RECORD_PICTURES` is 1.
///
/// Other versions of libraries smooth edges in other ways: the mean can differ by 1%.
func expectStored(
  _ image: Image, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Pictures/\(name).png").path
  if ProcessInfo.processInfo.environment["HEADWAY_RECORD_PICTURES"] == "1" { try image.write(to: path) }
  let distance = try #require(difference(image, Image(contentsOf: path)), sourceLocation: sourceLocation)
  #expect(distance.mean < 0.01, "\(name) differs from the stored picture", sourceLocation: sourceLocation)
}
#endif
