#if Dashboard
import HeadwayJobs

/// Lines that show how long the jobs of a queue have waited for a worker, in each period.
struct WaitChart {
  private static let step = 10
  /// The lines, from the highest: their names, percentiles and classes.
  private static let lines: [(name: String, percent: Double, style: String)] = [
    ("p99", 99, "slowest"), ("p95", 95, "slow"), ("p50", 50, "median"),
  ]

  private let statistics: JobStatistics
  private let waits: [JobDurations]

  /// Creates the chart of a queue; nil for all queues.
  init(_ statistics: JobStatistics, of queue: String? = nil) {
    self.statistics = statistics
    waits = statistics.periods.map { period in
      period.groups.reduce(into: JobDurations()) { sum, group in
        if queue == nil || group.queue == queue { sum += group.activity.waits }
      }
    }
  }

  /// Returns the values of the partial template `plot`.
  func view() -> View {
    let values = Self.lines.map { line in waits.map { $0.percentile(line.percent) } }
    let scale = ChartScale(for: values.flatMap { $0.compactMap(\.self) })
    let total = waits.reduce(into: JobDurations()) { $0 += $1 }
    let texts = Self.lines.map { line in
      "\(line.name) \(total.percentile(line.percent).map(Readable.duration) ?? "–")"
    }
    let ends = zip(Self.lines, values).compactMap { line, values -> (y: Int, text: String, style: String)? in
      values.last { $0 != nil }.flatMap(\.self).map { last in
        (y: scale.y(last), text: "\(line.name) \(Readable.duration(last))", style: line.style)
      }
    }
    return [
      "hasData": !total.isEmpty, "width": Self.step * max(1, waits.count - 1), "height": ChartScale.height,
      "grid": scale.grid, "labels": scale.labels, "times": statistics.timeLabels, "ends": ChartEnds.views(ends),
      "lines": zip(Self.lines, values).map { line, values -> View in
        ["style": line.style, "path": Self.path(values.map { $0.map(scale.y) })]
      },
      "summary": "Waits: " + texts.reversed().joined(separator: ", "),
    ]
  }

  /// Returns the path through points, which periods without a value interrupt.
  private static func path(_ points: [Int?]) -> String {
    var (path, isDrawing) = ("", false)
    for (index, y) in points.enumerated() {
      guard let y else {
        isDrawing = false
        continue
      }
      // A single point is a short line.
      path += isDrawing ? "L\(index * step) \(y)" : "M\(index * step) \(y)h1"
      isDrawing = true
    }
    return path
  }
}
#endif
