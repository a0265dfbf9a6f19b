// Drawing: compares drawing a tile of a map with plain C and cairo, in one process. Also writes the photographs for the
// thumbnails of `script/bench drawing`.
//
//   DrawingBenchmark tile ROUNDS TILES     prints a table in Markdown
//   DrawingBenchmark photos FOLDER COUNT   writes JPEG files of 12 megapixels

import Headway
import HeadwayDrawing

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "tile": try await compareTiles(rounds: Int(arguments[2]) ?? 5, count: Int(arguments[3]) ?? 100)
case "photos": try await writePhotos(into: arguments[2], count: Int(arguments[3]) ?? 50)
default: fatalError("Usage: DrawingBenchmark tile ROUNDS TILES, or photos FOLDER COUNT")
}
