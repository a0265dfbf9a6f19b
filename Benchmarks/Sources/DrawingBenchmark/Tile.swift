import CTile
import HeadwayDrawing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Draws the same tile as `CTile.c`, with `HeadwayDrawing`.
func makeTile(seed: UInt64) throws -> Image {
  let side = Double(tile_side)
  return try Image(width: side, height: side) { context in
    var state = seed
    func random() -> Double { tile_random(&state) }
    context.fill(context.bounds, with: .color(Color(red: 0.95, green: 0.94, blue: 0.9)))
    for _ in 0..<tile_areas {
      let (x, y) = (random() * side, random() * side)
      var path = Path()
      for point in 0..<tile_points {
        let angle = 2 * Double.pi * Double(point) / Double(tile_points)
        let radius = 10 + 40 * random()
        let place = Point(x + radius * cos(angle), y + radius * sin(angle))
        if point == 0 { path.move(to: place) } else { path.addLine(to: place) }
      }
      path.closeSubpath()
      let (red, green, blue) = (random(), random(), random())
      context.fill(path, with: .color(Color(red: red, green: green, blue: blue, opacity: 0.6)))
    }
    for _ in 0..<tile_roads {
      var (x, y) = (random() * side, random() * side)
      var path = Path()
      path.move(to: Point(x, y))
      for _ in 0..<tile_points {
        x += 60 * random() - 30
        y += 60 * random() - 30
        path.addLine(to: Point(x, y))
      }
      let style = StrokeStyle(width: 1 + 4 * random(), cap: .round, join: .round)
      context.stroke(path, with: .color(Color(red: 1, green: 0.8, blue: 0.4)), style: style)
    }
    for _ in 0..<tile_places {
      let (x, y) = (random() * side, random() * side)
      let place = Path { $0.addArc(center: Point(x, y), radius: 4, from: 0, to: 2 * .pi) }
      context.fill(place, with: .color(Color(red: 0.8, green: 0.1, blue: 0.1)))
    }
  }
}

/// Returns the bytes of the tile that C draws.
func makePlainTile(seed: UInt64) -> UnsafeMutableBufferPointer<UInt8> {
  let count = Int(tile_side * tile_side) * 4
  let pixels = calloc(count, 1).assumingMemoryBound(to: UInt8.self)
  tile_draw(pixels, seed)
  return UnsafeMutableBufferPointer(start: pixels, count: count)
}

/// Draws tiles in both ways alternately and prints a table.
func compareTiles(rounds: Int, count: Int) async throws {
  for seed in 0..<10 {
    let plain = makePlainTile(seed: UInt64(seed))
    defer { free(plain.baseAddress) }
    guard try makeTile(seed: UInt64(seed)).withUnsafeBytes({ $0.elementsEqual(plain) }) else {
      fatalError("The tiles of seed \(seed) differ.")
    }
  }
  let clock = ContinuousClock()
  var (ours, plain) = ([Double](), [Double]())
  for round in 0..<rounds {
    for isOurs in round % 2 == 0 ? [true, false] : [false, true] {
      let time = try clock.measure {
        for seed in 0..<count {
          if isOurs {
            _ = try makeTile(seed: UInt64(seed))
          } else {
            free(makePlainTile(seed: UInt64(seed)).baseAddress)
          }
        }
      }
      let milliseconds = time / .milliseconds(1) / Double(count)
      if isOurs { ours.append(milliseconds) } else { plain.append(milliseconds) }
    }
  }
  func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }
  func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
  print("| a tile of 512 × 512, equal to the byte | ms | ratio |\n|---|---|---|")
  print("| plain C with cairo | \(rounded(median(plain))) | 1 |")
  print("| `HeadwayDrawing` | \(rounded(median(ours))) | \(rounded(median(ours) / median(plain))) |")
}
