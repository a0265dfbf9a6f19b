#if SQLite
import Foundation
import HeadwayImport

/// The lines that show the progress of a table.
enum ProgressLine {
  /// The content of a line with a bar.
  struct Content {
    var name: String
    var fraction: Double
    var rows: Int
    var rejected: Int
    var seconds: Double
    /// The unit of the count, and the word for items that were not accepted.
    var words = (unit: "rows", rejected: "rejected")

    /// Creates the content for work other than an import.
    init(
      name: String, fraction: Double, count: Int, unit: String, failed: Int, seconds: Double
    ) {
      (self.name, self.fraction, rows, rejected) = (name, fraction, count, failed)
      (self.seconds, words) = (seconds, (unit, "failed"))
    }

    init(_ report: TableReport) {
      name = report.table
      fraction = report.isComplete ? 1 : ProgressLine.fraction(report)
      (rows, rejected, seconds) = (report.rowCount, report.rejectedRowCount, report.duration / .seconds(1))
    }

    /// Creates the content for all tables.
    init(_ reports: [TableReport], fraction: Double, seconds: Double) {
      name = "all"
      rows = reports.reduce(0) { $0 + $1.rowCount }
      rejected = reports.reduce(0) { $0 + $1.rejectedRowCount }
      (self.fraction, self.seconds) = (fraction, seconds)
    }
  }

  /// Returns a line with a bar that fits the terminal.
  ///
  /// If there is not enough room, the bar becomes shorter, and then the rate and the number of rows are omitted.
  static func bar(_ content: Content, on terminal: Terminal) -> String {
    let (unit, rejectedWord) = content.words
    let rows = "\(content.rows.grouped) \(content.rows == 1 && unit.hasSuffix("s") ? String(unit.dropLast()) : unit)"
    let rate = "\((content.seconds > 0 ? Int(Double(content.rows) / content.seconds) : 0).grouped) \(unit)/s"
    let left = left(content.fraction, seconds: content.seconds)
    let rejected = content.rejected > 0 ? "\(content.rejected.grouped) \(rejectedWord)" : nil
    let name = content.name.padded(to: 18)
    func line(_ name: String, _ parts: [String?], barWidth: Int) -> String {
      let bar = bar(content.fraction, width: barWidth, isUnicode: terminal.isUnicode)
      let details = parts.compactMap { $0 }.joined(separator: ", ")
      return "\(name) \(bar) \(percent(content.fraction))" + (details.isEmpty ? "" : "  \(details)")
    }
    let short = String(content.name.prefix(10)).padded(to: 10)
    let lines = [
      line(name, [rows, rate, left, rejected], barWidth: 24), line(name, [rows, rate, left, rejected], barWidth: 12),
      line(name, [rows, left, rejected], barWidth: 12), line(short, [left, rejected], barWidth: 6),
      line(short, [left ?? rejected], barWidth: 6), line(short, [], barWidth: 4),
    ]
    return lines.first { $0.count <= terminal.columns } ?? lines[lines.count - 1]
  }

  static func plain(_ report: TableReport, _ percent: Int) -> String {
    let rows = "\(report.rowCount.groupedRows), \(Int(report.rowsPerSecond).grouped) rows/s"
    let left = percent < 100 ? left(fraction(report), seconds: report.seconds) : nil
    return "\(report.table): \(percent)%, \([rows, left].compactMap { $0 }.joined(separator: ", "))"
  }

  // MARK: Parts

  static func fraction(_ report: TableReport) -> Double {
    guard let size = report.fileSize, size > 0 else { return 0 }
    return min(1, Double(report.committedByteCount) / Double(size))
  }

  static func bar(_ fraction: Double, width: Int, isUnicode: Bool) -> String {
    let full = Int(fraction * Double(width))
    return String(repeating: isUnicode ? "█" : "#", count: full)
      + String(repeating: isUnicode ? "░" : "-", count: width - full)
  }

  static func percent(_ fraction: Double) -> String { "\(Int(fraction * 100))%".leftPadded(to: 4) }

  /// The remaining time, if it can be estimated.
  static func left(_ fraction: Double, seconds: Double) -> String? {
    guard fraction > 0.01, fraction < 1 else { return nil }
    let left = seconds * (1 - fraction) / fraction
    return left < 60 ? "\(Int(left.rounded(.up))) s left" : "\(Int((left / 60).rounded(.up))) min left"
  }
}

extension TableReport {
  /// The duration in seconds, rounded to a thousandth.
  var seconds: Double { duration.inSeconds }
}

extension Duration {
  /// The duration in seconds, rounded to a thousandth.
  var inSeconds: Double { ((self / .seconds(1)) * 1000).rounded() / 1000 }
}

extension Int {
  /// The number with a comma between groups of three digits.
  var grouped: String {
    var digits = Array(String(magnitude))
    var position = digits.count - 3
    while position > 0 {
      digits.insert(",", at: position)
      position -= 3
    }
    return (self < 0 ? "-" : "") + String(digits)
  }

  /// The number of rows, with a comma between groups of three digits.
  var groupedRows: String { "\(grouped) \(self == 1 ? "row" : "rows")" }
}

extension String {
  func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
  func leftPadded(to width: Int) -> String { String(repeating: " ", count: Swift.max(0, width - count)) + self }
}
#endif
