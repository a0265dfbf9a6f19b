#if Drawing
/// Makes rows smaller by the mean of what each pixel stands for, as they come.
///
/// Each pixel of the result is a rectangle of the source, in general with parts of pixels at its edges; its colour is
/// the mean over that rectangle. Only one row of sums is in memory, however large the source is. Means of
/// premultiplied pixels are right where transparent ones take part.
struct RowAverager: ~Copyable {
  private let result: PixelStorage
  private let sourceWidth: Int
  private let sourceHeight: Int
  /// How many columns and rows of the source a pixel that comes represents; the last of a row or column, what is
  /// left.
  private let unit: Int
  /// How many pixels a row has that comes.
  private let count: Int
  /// The sums of the row of the result that is being made: of each pixel blue, green, red and alpha.
  private let sums: UnsafeMutablePointer<SIMD4<Float>>
  /// How much of a pixel that comes belongs to the pixel of the result in which its left edge is, in columns of the
  /// source; and how much to the next.
  private let shares: UnsafeMutablePointer<Float>
  private let rests: UnsafeMutablePointer<Float>
  /// In which pixel of the result the left edge of a pixel that comes is.
  private let columns: UnsafeMutablePointer<Int32>
  private var sourceY = 0
  private var resultY = 0

  /// Creates an averager.
  ///
  /// - Parameters:
  ///   - result: Takes the rows; neither wider nor higher than the source.
  ///   - sourceWidth: The width of the source.
  ///   - sourceHeight: The height of the source.
  ///   - unit: By how much a decoder has reduced the source: a pixel of its rows represents that many columns and
  ///     rows, but at the right and at the bottom only those that are left.
  init(into result: PixelStorage, sourceWidth: Int, sourceHeight: Int, unit: Int = 1) {
    precondition(result.width == 1 || result.width * unit <= sourceWidth)
    precondition(result.height == 1 || result.height * unit <= sourceHeight)
    (self.result, self.sourceWidth, self.sourceHeight, self.unit) = (result, sourceWidth, sourceHeight, unit)
    count = (sourceWidth + unit - 1) / unit
    // One more pixel, for the rest of the last, which is nothing.
    sums = .allocate(capacity: result.width + 1)
    sums.initialize(repeating: .zero, count: result.width + 1)
    shares = .allocate(capacity: count)
    rests = .allocate(capacity: count)
    columns = .allocate(capacity: count)
    for x in 0..<count {
      // In units of 1 / sourceWidth of a pixel of the result: exact.
      let (column, start) = (x * unit * result.width).quotientAndRemainder(dividingBy: sourceWidth)
      let extent = min(unit, sourceWidth - x * unit) * result.width
      let first = min(extent, sourceWidth - start)
      columns[x] = Int32(column)
      shares[x] = Float(first) / Float(result.width)
      rests[x] = Float(extent - first) / Float(result.width)
    }
  }

  deinit {
    sums.deallocate()
    shares.deallocate()
    rests.deallocate()
    columns.deallocate()
  }

  /// Adds the next row.
  mutating func add(_ row: UnsafePointer<UInt32>) {
    // The part of the row that belongs to the row of the result in which its top edge is.
    let start = sourceY * result.height - resultY * sourceHeight
    let extent = min(unit, sourceHeight - sourceY) * result.height
    let part = min(extent, sourceHeight - start)
    add(row, weight: Float(part) / Float(result.height))
    sourceY += unit
    guard start + part == sourceHeight else { return }
    writeRow()
    if part < extent { add(row, weight: Float(extent - part) / Float(result.height)) }
  }

  private func add(_ row: UnsafePointer<UInt32>, weight: Float) {
    for x in 0..<count {
      let word = row[x]
      let bytes = SIMD4<UInt32>(word & 0xFF, word >> 8 & 0xFF, word >> 16 & 0xFF, word >> 24)
      let pixel = SIMD4<Float>(bytes) * weight
      let column = Int(columns[x])
      sums[column].addProduct(pixel, shares[x])
      sums[column + 1].addProduct(pixel, rests[x])
    }
  }

  private mutating func writeRow() {
    let row = result.row(resultY).assumingMemoryBound(to: UInt32.self)
    let factor = Float(result.width) * Float(result.height) / (Float(sourceWidth) * Float(sourceHeight))
    for x in 0..<result.width {
      // Half for rounding; sums of floats may be a little too large.
      let mean = (sums[x] * factor + 0.5).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
      let bytes = SIMD4<UInt32>(mean)
      row[x] = bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24
      sums[x] = .zero
    }
    sums[result.width] = .zero
    resultY += 1
  }
}
#endif
