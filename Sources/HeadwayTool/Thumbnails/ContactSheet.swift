#if SQLite && Drawing
import HeadwayDrawing
import HeadwayFiles

/// Thumbnails with their names in one picture.
struct ContactSheet {
  /// The path of the file.
  let path: String
  private let cells: [(name: String, thumbnail: String)]
  private let cellSide: Double
  private let columns: Int

  /// A limit for legibility: more pictures produce more sheets.
  private static let mostCells = 200
  private static let mostColumns = 12
  private static let largestCell = 160
  private static let (margin, labelHeight) = (12.0, 18.0)

  /// Returns the sheets for all existing thumbnails.
  ///
  /// If there are several, the second is named `NAME-2.png`.
  static func sheets(of files: ThumbnailFiles, path: String, side: Int) -> [ContactSheet] {
    let cells = files.names.map { (name: $0, thumbnail: files.output($0)) }
    let starts = cells.isEmpty ? [0] : Array(stride(from: 0, to: cells.count, by: mostCells))
    return starts.enumerated().map { number, start in
      ContactSheet(
        path: number == 0 ? path : numbered(path, number + 1),
        cells: Array(cells[start..<min(cells.count, start + mostCells)]), side: side)
    }
  }

  private static func numbered(_ path: String, _ number: Int) -> String {
    guard let dot = path.lastIndex(of: ".") else { return path }
    return "\(path[..<dot])-\(number)\(path[dot...])"
  }

  private init(path: String, cells: [(name: String, thumbnail: String)], side: Int) {
    (self.path, self.cells) = (path, cells)
    cellSide = Double(max(48, min(side, Self.largestCell)))
    // A little wider than high.
    let ideal = (Double(cells.count) * 4 / 3).squareRoot().rounded(.up)
    columns = max(1, min(Self.mostColumns, Int(ideal)))
  }

  private var rowHeight: Double { cellSide + Self.labelHeight + Self.margin }

  func operation() -> DrawingOperation {
    let rows = max(1, (cells.count + columns - 1) / columns)
    let width = Double(columns) * (cellSide + Self.margin) + Self.margin
    return DrawingOperation(width: width, height: Double(rows) * rowHeight + Self.margin) { [self] context in
      context.fill(context.bounds, with: .color(.white))
      for (index, cell) in cells.enumerated() {
        try context.checkCancellation()
        let (row, column) = index.quotientAndRemainder(dividingBy: columns)
        let origin = Point(
          Self.margin + Double(column) * (cellSide + Self.margin), Self.margin + Double(row) * rowHeight)
        draw(cell.name, cell.thumbnail, in: Rectangle(origin: origin, size: Size(cellSide, cellSide)), context)
      }
    }
  }

  private func draw(_ name: String, _ thumbnail: String, in square: Rectangle, _ context: DrawingContext) {
    // A picture that could not be read has an empty frame.
    if let image = try? Image(thumbnailOf: thumbnail, fitting: Int(cellSide)) {
      let frame =
        image.size.width <= cellSide && image.size.height <= cellSide
        ? Rectangle(
          origin: Point(
            (square.center.x - image.size.width / 2).rounded(), (square.center.y - image.size.height / 2).rounded()),
          size: image.size) : square.fitting(image.size)
      context.draw(image, in: frame)
    } else {
      context.stroke(Path(square.inset(by: 0.5)), with: .color(Color(white: 0.8)))
    }
    // One line, whatever characters the name contains.
    let line = String(name.shownPath.map { $0.isNewline ? " " : $0 })
    let label = Text(
      line, font: Font(size: 10), color: Color(white: 0.3), alignment: .center, maxLineCount: 1)
    context.draw(label, at: Point(square.minimumX, square.maximumY + 2), width: cellSide)
  }
}
#endif
