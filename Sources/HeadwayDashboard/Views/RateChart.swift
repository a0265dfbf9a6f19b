#if Dashboard
import HeadwayJobs

/// The bars of a chart: the jobs that have ended in each minute of the last hour.
enum RateChart {
  private static let height = 80
  private static let step = 10
  private static let barWidth = 7

  static func view(_ statistics: EndingStatistics) -> View {
    let greatest = max(1, statistics.minutes.map(\.count).max() ?? 1)
    var bars: [View] = []
    for (index, minute) in statistics.minutes.enumerated() where minute.count > 0 {
      var top = height
      for (style, count) in [
        ("succeeded", minute.succeeded), ("failed", minute.failed), ("cancelled", minute.cancelled),
      ] where count > 0 {
        let length = max(1, count * height / greatest)
        top = max(0, top - length)
        bars.append(["x": index * step, "y": top, "width": barWidth, "height": length, "style": style])
      }
    }
    let total = statistics.minutes.reduce(0) { $0 + $1.count }
    return [
      "bars": bars, "width": EndingStatistics.minuteCount * step, "height": height,
      "greatest": Readable.number(greatest), "hasBars": total > 0,
      "total": Readable.number(total) + (statistics.isPartial ? "+" : ""),
    ]
  }
}
#endif
