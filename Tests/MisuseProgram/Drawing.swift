#if Drawing
import HeadwayDrawing

let misusesOfDrawing = [
  Misuse("drawing: width", "0.0 × 1.0", "sizes above 0") { _ = try Image(width: 0, height: 1) { _ in } },
  Misuse("drawing: no number", "nan", "sizes above 0") { _ = try Image(width: .nan, height: 1) { _ in } },
  Misuse("drawing: scale", "inf pixels a point", "at most") {
    _ = DrawingOperation(width: 1, height: 1, scale: .infinity) { _ in }
  },
  Misuse("drawing: thumbnail", "0 pixels", "1 or more") { _ = ThumbnailOperation(of: "a.jpg", fitting: 0) },
  Misuse("drawing: thumbnail of bytes", "-1 pixels", "1 or more") { _ = try Image(thumbnailOf: [], fitting: -1) },
  Misuse("drawing: quality of a thumbnail", "quality 101", "1 to 100") {
    _ = ThumbnailOperation(of: "a.jpg", fitting: 1, quality: 101)
  },
  Misuse("drawing: quality", "quality 0", "1 to 100") {
    _ = try Image(width: 1, height: 1) { _ in }.jpegBytes(quality: 0)
  },
  Misuse("drawing: a pixel outside of the image", "x: 1, y: 0", "1 × 1 pixels") {
    _ = try Image(width: 1, height: 1) { _ in }.color(x: 1, y: 0)
  },
  Misuse("drawing: a context after the end", "DrawingContext", "inside of the closure") {
    var kept: DrawingContext?
    _ = try Image(width: 1, height: 1) { kept = $0 }
    kept?.translate(x: 1, y: 1)
  },
]
#else
let misusesOfDrawing: [Misuse] = []
#endif
