#if SQLite
import Foundation
import HeadwayFiles
import HeadwayImport

extension TableReport {
  /// Returns the records that might be rows but were not imported as rows, the changes to an existing table except new
  /// rows, and the changes to values.
  func changes(saysRemoved: Bool) -> [String] {
    var sentences = (headerNotes + schemaChanges).map { "\(table): \($0)." }
    if saysRemoved, removedRowCount > 0 {
      sentences.append(
        "\(table): \(replacedRowCount.groupedRows) replaced, \(removedRowCount.grouped) removed.")
    }
    for column in convertedColumns {
      sentences.append(
        "\(table): \(column.values) of the column \(column.column) (\(column.declaredType)) became numbers with "
          + "a different spelling, the first “\(column.firstValue)” in line \(column.firstLineNumber). To keep the "
          + "text, declare the column as TEXT.")
    }
    return sentences
  }
}

extension ConvertedColumn {
  fileprivate var values: String { "\(count.grouped) \(count == 1 ? "value" : "values")" }
}

/// The summary that the tool prints at the end: one line per table.
struct ImportSummary {
  private let reports: [TableReport]
  /// The duration, rounded to a thousandth.
  private let seconds: Double
  private let style: ProgressStyle

  init(_ reports: [TableReport], seconds: Double, style: ProgressStyle) {
    self.reports = reports
    self.seconds = seconds
    self.style = style
  }

  /// - Parameter end: The event that describes how the import ended.
  func print(_ end: JSONEvent.End) {
    let text = style == .json ? json(end) : table(isCancelled: end.event == "cancelled")
    StandardStream.output.write(text.replacingControls(except: "\n".unicodeScalars))
  }

  private func json(_ end: JSONEvent.End) -> String {
    let lines = reports.map(JSONEvent.table)
    return (lines + [JSONEvent.line(end)]).map { $0 + "\n" }.joined()
  }

  private func table(isCancelled: Bool) -> String {
    var rows = reports.map { SummaryTable.Row(cells($0.table, [$0], seconds: $0.seconds), isComplete: $0.isComplete) }
    if reports.count > 1 { rows.append(SummaryTable.Row(cells("all", reports, seconds: seconds), isComplete: true)) }
    let titles = ["table", "rows", "rejected", "flagged", "seconds", "rows/s"]
    var lines = SummaryTable(titles: titles, rows: rows).lines(columns: Terminal.outputColumns)
    for report in reports {
      lines += report.changes(saysRemoved: true)
      if case let count = report.ignoredRowCount, count > 0 {
        lines.append(
          "\(report.table): \(count.groupedRows) \(count == 1 ? "was" : "were") ignored, because the key already "
            + "exists.")
      }
      for note in report.notes { lines.append("\(report.table): \(note).") }
      for reference in report.uncheckedReferences { lines.append("\(report.table): \(reference).") }
    }
    // Files that are imported into one table share a file of rejected rows.
    var named: Set<String> = []
    for path in reports.compactMap(\.rejectedRowsPath) where named.insert(path).inserted {
      lines.append("The problems of rejected and flagged rows are in \(path).")
    }
    if isCancelled { lines.append("Cancelled: the listed rows are committed. The same command completes the import.") }
    return lines.joined(separator: "\n") + "\n"
  }

  private func cells(_ name: String, _ reports: [TableReport], seconds: Double) -> [String] {
    let rows = reports.reduce(0) { $0 + $1.rowCount }
    return [
      name, rows.grouped, reports.reduce(0) { $0 + $1.rejectedRowCount }.grouped,
      reports.reduce(0) { $0 + $1.flaggedRowCount }.grouped, String(format: "%.2f", seconds),
      seconds > 0 ? Int(Double(rows) / seconds).grouped : "-",
    ]
  }
}
#endif
