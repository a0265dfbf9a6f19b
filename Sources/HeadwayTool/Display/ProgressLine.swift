#if SQLite
  import Foundation
  import HeadwayImport

  /// The lines that tell how a table goes.
  enum ProgressLine {
    private static let barWidth = 24

    static func bar(_ report: TableReport) -> String {
      let fraction = report.isComplete ? 1 : fraction(report)
      return "\(report.table.padded(to: 18)) \(bar(fraction)) \(percent(fraction))  \(rows(report))\(left(report))"
    }

    static func overall(_ reports: [TableReport], fraction: Double, seconds: Double) -> String {
      let rows = reports.reduce(0) { $0 + $1.rows }
      let rejected = reports.reduce(0) { $0 + $1.rejected }
      let rejects = rejected > 0 ? ", \(rejected.grouped) rejected" : ""
      let rate = seconds > 0 ? Int(Double(rows) / seconds) : 0
      let speed = "\(rows.grouped) rows, \(rate.grouped) rows/s\(left(fraction, seconds: seconds))"
      return "\("all".padded(to: 18)) \(bar(fraction)) \(percent(fraction))  \(speed)\(rejects)"
    }

    static func plain(_ report: TableReport, _ percent: Int) -> String {
      "\(report.table): \(percent) %, \(rows(report))\(percent < 100 ? left(report) : "")"
    }

    static func json(_ report: TableReport, _ percent: Int) -> String {
      json(event: "progress", report, percent: percent)
    }

    /// One JSON object; `event` is `progress`, or `table` for the summary of one.
    static func json(event: String, _ report: TableReport, percent: Int) -> String {
      let line = JSONLine(
        event: event, table: report.table, percent: percent, rows: report.rows, rejected: report.rejected,
        reported: report.reported, bytes: report.bytes, size: report.size, seconds: report.seconds,
        rowsPerSecond: report.rowsPerSecond.rounded(), isComplete: report.isComplete,
        rejects: report.rejectsPath)
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      // The fields are numbers and text: nothing that can't be encoded.
      return (try? encoder.encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private struct JSONLine: Encodable {
      let event: String
      let table: String
      let percent: Int
      let rows: Int
      let rejected: Int
      let reported: Int
      let bytes: Int
      let size: Int?
      let seconds: Double
      let rowsPerSecond: Double
      let isComplete: Bool
      let rejects: String?
    }

    // MARK: Parts

    static func fraction(_ report: TableReport) -> Double {
      guard let size = report.size, size > 0 else { return 0 }
      return min(1, Double(report.bytes) / Double(size))
    }

    private static func bar(_ fraction: Double) -> String {
      let full = Int(fraction * Double(barWidth))
      return String(repeating: "█", count: full) + String(repeating: "░", count: barWidth - full)
    }

    private static func percent(_ fraction: Double) -> String { "\(Int(fraction * 100)) %".leftPadded(to: 5) }

    private static func rows(_ report: TableReport) -> String {
      "\(report.rows.grouped) rows, \(Int(report.rowsPerSecond).grouped) rows/s"
    }

    /// The time left, where it can be said.
    private static func left(_ report: TableReport) -> String {
      report.isComplete ? "" : left(fraction(report), seconds: report.seconds)
    }

    private static func left(_ fraction: Double, seconds: Double) -> String {
      guard fraction > 0.01, fraction < 1 else { return "" }
      let left = seconds * (1 - fraction) / fraction
      return left < 60 ? ", \(Int(left.rounded(.up))) s left" : ", \(Int((left / 60).rounded(.up))) min left"
    }
  }

  extension TableReport {
    /// The duration in seconds, to the thousandth.
    var seconds: Double { ((duration / .seconds(1)) * 1000).rounded() / 1000 }
  }

  extension Int {
    /// With a comma between groups of three digits.
    var grouped: String {
      var digits = Array(String(magnitude))
      var position = digits.count - 3
      while position > 0 {
        digits.insert(",", at: position)
        position -= 3
      }
      return (self < 0 ? "-" : "") + String(digits)
    }
  }

  extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
    func leftPadded(to width: Int) -> String { String(repeating: " ", count: Swift.max(0, width - count)) + self }
  }
#endif
