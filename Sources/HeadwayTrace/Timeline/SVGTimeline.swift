/// Draws a recording.
struct SVGTimeline {
  /// A row with its place in the picture.
  struct PlacedRow {
    let row: TimelineRow
    /// The top of its bars, and their height, in pixels.
    let top: Double
    let height: Double

    var middle: Double { top + height / 2 }
  }

  let recording: TraceRecording
  let showsDependencies: Bool
  let extent: Int64
  let width: Double
  /// The horizontal range of the plot.
  let left: Double
  let right: Double
  /// The top and the bottom of the plot.
  let top: Double
  let bottom: Double
  /// The rows with all bars, and with the bars that are drawn.
  let rows: [PlacedRow]
  let mergedRows: [PlacedRow]
  let legend: [PlacedLegendItem]

  init(_ recording: TraceRecording, width: Int, showsDependencies: Bool) {
    self.recording = recording
    self.showsDependencies = showsDependencies
    extent = max(recording.extent, 1)
    self.width = Double(max(320, min(width, 100_000)))
    let rows = recording.timelineRows(extent: extent)
    let names = Set(rows.map(\.thread)).map { textWidth(recording.threadName($0).onOneLine) }
    left = min(max(60, (names.max() ?? 0) + 20), self.width / 4)
    right = self.width - 32
    let merged = recording.merged(rows, nanosecondsPerPixel: Double(extent) / (right - left))
    legend = SVGLegend(recording, rows: merged, showsDependencies: showsDependencies).placed(width: self.width)
    top = (legend.last?.y ?? 30) + 36
    self.rows = Self.place(rows, below: top)
    bottom = (self.rows.last.map { $0.top + $0.height } ?? (top + 20)) + 6
    mergedRows = Self.place(merged, below: top)
  }

  private static func place(_ rows: [TimelineRow], below top: Double) -> [PlacedRow] {
    var y = top
    var thread: Int?
    return rows.map { row in
      if row.thread != thread { y += 6 }
      thread = row.thread
      let (height, gap): (Double, Double) =
        switch row.kind {
        case .spans: (13, 3)
        case .runs: (16, 3)
        case .waits: (4, 2)
        }
      defer { y += height + gap }
      return PlacedRow(row: row, top: y, height: height)
    }
  }

  /// The horizontal place of a time.
  func x(_ time: Int64) -> Double { left + Double(time) / Double(extent) * (right - left) }

  /// The whole document.
  var document: String {
    let height = bottom + 14
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(decimalText(width)) \(decimalText(height))" \
      width="\(decimalText(width))" height="\(decimalText(height))" role="img" \
      aria-label="\(recording.summary.escapedForXML)">
      <style>\(SVGStyle.sheet)</style>
      <defs><marker id="head" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">\
      <path class="head" d="M0 0L6 3L0 6z"/></marker>\
      <pattern id="stripes" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
      <path class="stripe" d="M1 0v5"/></pattern></defs>
      <rect class="back" width="100%" height="100%"/>
      <text class="title" x="12" y="20">\(recording.summary.escapedForXML)</text>
      \(legendElements)
      \(bands)
      \(axis)
      \(bars)
      \(blockedPeriods)
      \(marks)
      \(arrows)
      </svg>

      """
  }

  /// The background of every other thread, and the names of threads.
  private var bands: String {
    var elements: [String] = []
    var first = rows.startIndex
    var isShaded = true
    while first < rows.endIndex {
      let thread = rows[first].row.thread
      let end = rows[first...].firstIndex { $0.row.thread != thread } ?? rows.endIndex
      let (top, bottom) = (rows[first].top - 3, rows[end - 1].top + rows[end - 1].height + 3)
      if isShaded {
        elements.append(
          """
          <rect class="band" x="0" y="\(decimalText(top))" width="\(decimalText(width))" \
          height="\(decimalText(bottom - top))"/>
          """)
      }
      isShaded.toggle()
      let middle = rows[first..<end].first { $0.row.kind == .runs }?.middle ?? rows[first].middle
      let name = recording.threadName(thread).onOneLine
      elements.append(
        """
        <text x="12" y="\(decimalText(middle + 4))">\(fitting(name, left - 16).escapedForXML)\
        <title>\(name.escapedForXML)</title></text>
        """)
      first = end
    }
    return elements.joined(separator: "\n")
  }

  /// The lines and labels of the time axis.
  private var axis: String {
    let axis = TimeAxis(extent: extent, maximumCount: max(1, Int((right - left) / 90)))
    return axis.ticks.map { tick in
      let x = decimalText(x(tick))
      return """
        <path class="grid" d="M\(x) \(decimalText(top - 6))V\(decimalText(bottom))"/>\
        <text class="tick dim" x="\(x)" y="\(decimalText(top - 11))">\(axis.label(tick))</text>
        """
    }.joined(separator: "\n")
  }
}

/// The approximate width of a text in pixels, rather too large than too small.
func textWidth(_ text: String) -> Double {
  text.reduce(0) { width, character in
    switch character.unicodeScalars.first?.value ?? 0 {
    case 0..<0x80: width + ("iljtfr.,:;'|()[] -".contains(character) ? 4.2 : "mwMW@%".contains(character) ? 10.5 : 7)
    case 0x80..<0x1100: width + 8
    default: width + 14
    }
  }
}

/// The beginning of a text that fits into a width, with an ellipsis if it is shortened; empty if hardly anything fits.
func fitting(_ text: String, _ width: Double) -> String {
  guard textWidth(text) > width else { return text }
  var count = 0
  var used = 8.0
  for character in text {
    used += textWidth(String(character))
    guard used <= width else { break }
    count += 1
  }
  return count >= 3 ? text.prefix(count) + "…" : ""
}
