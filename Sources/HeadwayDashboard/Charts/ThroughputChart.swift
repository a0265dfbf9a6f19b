#if Dashboard
import HeadwayJobs

/// Bars that show what has happened in each period, with one band for each kind of event.
struct ThroughputChart {
  /// The numbers of one kind of event, by period.
  struct Band: Equatable {
    var name: String
    /// The class of the bars and of the label.
    var style: String
    var counts: [Int]

    var total: Int { counts.reduce(0, +) }
  }

  private static let step = 10
  private static let barWidth = 7

  let bands: [Band]
  private let statistics: JobStatistics

  /// Shows the jobs that have ended, and the attempts after which jobs run again.
  static func endings(_ statistics: JobStatistics) -> ThroughputChart {
    let succeeded = Band(name: "succeeded", style: "succeeded", counts: counts(statistics) { $0.succeeded })
    return ThroughputChart(bands: [succeeded] + failures(statistics).bands, statistics: statistics)
  }

  /// Shows the attempts and jobs that did not succeed.
  static func failures(_ statistics: JobStatistics) -> ThroughputChart {
    ThroughputChart(
      bands: [
        // The last attempt of a failed job is counted as the job.
        Band(name: "retried", style: "retrying", counts: counts(statistics) { max(0, $0.failedAttempts - $0.failed) }),
        Band(name: "failed", style: "failed", counts: counts(statistics) { $0.failed }),
        Band(name: "cancelled", style: "cancelled", counts: counts(statistics) { $0.cancelled }),
      ], statistics: statistics)
  }

  private static func counts(_ statistics: JobStatistics, _ count: (JobActivity) -> Int) -> [Int] {
    statistics.periods.map { period in period.groups.reduce(0) { $0 + count($1.activity) } }
  }

  private var sums: [Int] { statistics.periods.indices.map { index in bands.reduce(0) { $0 + $1.counts[index] } } }

  /// Returns the values of the partial template `plot`.
  func view() -> View {
    let scale = ChartScale(numbersUpTo: sums.max() ?? 0)
    var bars: [View] = []
    for index in statistics.periods.indices {
      var sum = 0
      for band in bands where band.counts[index] > 0 {
        let bottom = scale.y(sum)
        sum += band.counts[index]
        // Even a single event is visible.
        let top = min(scale.y(sum), bottom - 1)
        bars.append([
          "x": index * Self.step, "y": max(0, top), "barWidth": Self.barWidth, "barHeight": bottom - max(0, top),
          "style": band.style,
        ])
      }
    }
    let named = bands.filter { $0.total > 0 }
    let ends = named.reversed().enumerated().map { index, band in
      (y: index, text: "\(band.name) \(Readable.number(band.total))", style: band.style)
    }
    let totals = named.map { "\(Readable.number($0.total)) \($0.name)" }.joined(separator: ", ")
    var view: View = [
      "hasData": !named.isEmpty, "bars": bars, "width": Self.step * statistics.periods.count,
      "height": ChartScale.height, "grid": scale.grid, "labels": scale.labels, "ends": ChartEnds.views(ends),
      "times": statistics.timeLabels,
      "summary": "\(totals), at most \(Readable.number(sums.max() ?? 0)) per \(statistics.periodName)",
    ]
    view["columns"] = bands.map { ["name": $0.name] as View }
    view["rows"] = statistics.periods.indices.reversed().filter { sums[$0] > 0 }.map { index -> View in
      [
        "time": statistics.clock(index),
        "cells": bands.map { ["value": Readable.number($0.counts[index])] as View },
      ]
    }
    return view
  }
}

extension JobStatistics {
  /// The name of the length of a period.
  var periodName: String { span == .hour ? "minute" : "hour" }

  /// Returns the time of the day when a period begins.
  func clock(_ index: Int) -> String {
    String(PageZone.current.text(periods[index].startTime).dropFirst(11).prefix(5))
  }

  /// The labels below a chart: the first period, the one in the middle, and the last one.
  var timeLabels: [String] { periods.isEmpty ? [] : [clock(0), clock(periods.count / 2), "now"] }
}
#endif
