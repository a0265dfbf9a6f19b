extension SVGTimeline {
  /// The maximum number of arrows, of marks, and of blocked periods per row that are drawn.
  private static let limit = 2000

  /// The periods when threads were blocked: stripes at the bottom of the rows with runs, below the names.
  ///
  /// Periods that are narrower than a pixel are not drawn.
  var blockedPeriods: String {
    rows.filter { $0.row.kind == .runs }.flatMap { placed in
      recording.blockedPeriods(ofThread: placed.row.thread, extent: extent)
        .filter { x($0.end) - x($0.start) >= 1 }.prefix(Self.limit)
        .map { period in
          """
          <rect class="blocked" x="\(decimalText(x(period.start)))" y="\(decimalText(placed.top + placed.height - 4))" \
          width="\(decimalText(x(period.end) - x(period.start)))" height="4"/>
          """
        }
    }.joined(separator: "\n")
  }

  /// The marks, each a line through the rows of its thread.
  var marks: String {
    var ranges: [Int: (top: Double, bottom: Double)] = [:]
    for placed in rows {
      let range = ranges[placed.row.thread] ?? (placed.top, placed.top)
      ranges[placed.row.thread] = (range.top, placed.top + placed.height)
    }
    return recording.marks.prefix(Self.limit).map { mark in
      let range = ranges[mark.thread] ?? (top, bottom)
      let time = max(0, mark.time.nanoseconds)
      return """
        <path class="mark" d="M\(decimalText(x(time))) \(decimalText(range.top - 3))V\(decimalText(range.bottom + 3))">\
        <title>\(mark.name.shortened(to: 200).escapedForXML)\n\(timeText(time))</title></path>
        """
    }.joined(separator: "\n")
  }

  /// The arrows from the ends of dependencies to the starts of their dependents.
  var arrows: String {
    guard showsDependencies else { return "" }
    var (starts, ends): ([Int: (x: Double, y: Double)], [Int: (x: Double, y: Double)]) = ([:], [:])
    for placed in rows where placed.row.kind == .runs {
      for bar in placed.row.bars {
        guard case .run(let position, let attempt) = bar.content else { continue }
        if attempt == 1 { starts[position] = (x(bar.period.start), placed.middle) }
        if attempt == recording.operations[position].runs.count { ends[position] = (x(bar.period.end), placed.middle) }
      }
    }
    var paths: [String] = []
    for position in recording.operations.indices where paths.count < Self.limit {
      guard let target = starts[position] else { continue }
      for dependency in recording.dependencies(of: position) {
        guard let source = ends[dependency], paths.count < Self.limit else { continue }
        paths.append(curve(from: source, to: target))
      }
    }
    return paths.joined(separator: "\n")
  }

  private func curve(from source: (x: Double, y: Double), to target: (x: Double, y: Double)) -> String {
    let reach = max(12, min(60, abs(target.x - source.x) / 2))
    let numbers = [
      source.x, source.y, source.x + reach, source.y, target.x - reach, target.y, target.x, target.y,
    ].map { decimalText($0) }
    let points = numbers[2...].joined(separator: " ")
    return """
      <path class="arrow" marker-end="url(#head)" d="M\(numbers[0]) \(numbers[1])C\(points)"/>
      """
  }
}
