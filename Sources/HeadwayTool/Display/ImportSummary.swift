#if SQLite
  import Foundation
  import HeadwayImport

  /// What the tool says at the end: a line a table.
  struct ImportSummary {
    private let reports: [TableReport]
    /// To the thousandth.
    private let seconds: Double
    private let style: ProgressStyle

    init(_ reports: [TableReport], seconds: Double, style: ProgressStyle) {
      self.reports = reports
      self.seconds = seconds
      self.style = style
    }

    /// - Parameter end: How it ended.
    func print(_ end: JSONEvent.End) {
      let text = style == .json ? json(end) : table(isCancelled: end.event == "cancelled")
      FileHandle.standardOutput.write(Data(text.utf8))
    }

    private func json(_ end: JSONEvent.End) -> String {
      let lines = reports.map { report in
        let percent = report.isComplete ? 100 : Int(ProgressLine.fraction(report) * 100)
        return JSONEvent.line(JSONEvent.Table(event: "table", report, percent: percent))
      }
      return (lines + [JSONEvent.line(end)]).map { $0 + "\n" }.joined()
    }

    private func table(isCancelled: Bool) -> String {
      let width = max(5, reports.map(\.table.count).max() ?? 0)
      func line(_ cells: [String]) -> String {
        cells[0].padded(to: width) + zip(cells.dropFirst(), [12, 9, 9, 9, 12]).map { $0.leftPadded(to: $1) }.joined()
      }
      var lines = [line(["table", "rows", "rejected", "reported", "seconds", "rows/s"])]
      for report in reports {
        let note = report.isComplete ? "" : "  (not complete)"
        lines.append(line(cells(report.table, [report], seconds: report.seconds)) + note)
      }
      if reports.count > 1 { lines.append(line(cells("all", reports, seconds: seconds))) }
      for report in reports {
        for reference in report.uncheckedReferences { lines.append("\(report.table): \(reference).") }
      }
      for path in reports.compactMap(\.rejectsPath) {
        lines.append("What is wrong with rejected and reported rows is in \(path).")
      }
      if isCancelled { lines.append("Cancelled: what is listed is committed. The same command completes it.") }
      return lines.joined(separator: "\n") + "\n"
    }

    private func cells(_ name: String, _ reports: [TableReport], seconds: Double) -> [String] {
      let rows = reports.reduce(0) { $0 + $1.rows }
      return [
        name, rows.grouped, reports.reduce(0) { $0 + $1.rejected }.grouped,
        reports.reduce(0) { $0 + $1.reported }.grouped, String(format: "%.2f", seconds),
        seconds > 0 ? Int(Double(rows) / seconds).grouped : "-",
      ]
    }
  }
#endif
