#if Drawing
import Headway

/// Scales rows down as they arrive, by averaging the pixels that each result pixel covers.
///
/// Each pixel of the result covers a rectangle of the source, which generally contains fractions of pixels at its
/// edges. The color of the result pixel is the average over that rectangle. Only one row of sums is in memory, however
/// large the source is. Averages of premultiplied pixels are correct even if some are transparent.
struct RowAverager: ~Copyable {
  private let result: PixelStorage
  private let sourceWidth: Int
  private let sourceHeight: Int
  /// The number of source columns and rows that an incoming pixel represents; the last pixel of a row or column
  /// represents the remainder.
  private let unit: Int
  /// The number of pixels in an incoming row.
  private let count: Int
  /// The sums for the current row of the result: blue, green, red, and alpha of each pixel.
  private let sums: UnsafeMutablePointer<SIMD4<Float>>
  /// The share of an incoming pixel that belongs to the result pixel at its left edge, in source columns.
  ///
  /// `rests` is the share of the next result pixel.
  private let shares: UnsafeMutablePointer<Float>
  private let rests: UnsafeMutablePointer<Float>
  /// The index of the result pixel at the left edge of each incoming pixel.
  private let columns: UnsafeMutablePointer<Int32>
  private var sourceY = 0
  private var resultY = 0

  /// Creates an averager.
  ///
  /// - Parameters:
  ///   - result: Receives the rows; neither wider nor higher than the source.
  ///   - sourceWidth: The width of the source.
  ///   - sourceHeight: The height of the source.
  ///   - unit: The factor of a reduction by the decoder. A pixel of the decoder's rows represents that many columns and
  ///     rows, but at the right and the bottom only the remaining ones.
  init(into result: PixelStorage, sourceWidth: Int, sourceHeight: Int, unit: Int = 1) {
    require(result.width == 1 || result.width * unit <= sourceWidth, "An image is averaged to a wider one.")
    require(result.height == 1 || result.height * unit <= sourceHeight, "An image is averaged to a higher one.")
    (self.result, self.sourceWidth, self.sourceHeight, self.unit) = (result, sourceWidth, sourceHeight, unit)
    count = (sourceWidth + unit - 1) / unit
    // One extra pixel, for the share beyond the last pixel, which is zero.
    sums = .allocate(capacity: result.width + 1)
    sums.initialize(repeating: .zero, count: result.width + 1)
    shares = .allocate(capacity: count)
    rests = .allocate(capacity: count)
    columns = .allocate(capacity: count)
    for x in 0..<count {
      // The unit is 1 / sourceWidth of a result pixel, so the calculation is exact.
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
    // The part of the row that belongs to the result row at its top edge.
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
      let bytes = SIMD4<UInt32>(word & 0xFF, (word >> 8) & 0xFF, (word >> 16) & 0xFF, word >> 24)
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
      // Adds 0.5 to round. Clamped, because sums of floats can be slightly too large.
      let mean = (sums[x] * factor + 0.5).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
      let bytes = SIMD4<UInt32>(mean)
      row[x] = bytes.x | (bytes.y << 8) | (bytes.z << 16) | (bytes.w << 24)
      sums[x] = .zero
    }
    sums[result.width] = .zero
    resultY += 1
  }
}
#endif
