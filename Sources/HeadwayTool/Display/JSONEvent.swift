#if SQLite
import Foundation
import HeadwayCSV
import HeadwayFiles
import HeadwayImport

/// The output of `--progress json`: one object per line.
///
/// `Docs/tool-json.md` documents the fields.
enum JSONEvent {
  /// A file, before its import.
  ///
  /// The first line.
  struct Start: Encodable {
    struct Dialect: Encodable {
      let delimiter: String
      let quote: String
      let escape: String?
    }

    let event = "start"
    let file: String
    let encoding: String
    let dialect: Dialect
    let columns: [String]
    let headerLineNumber: Int?
    /// Unusual properties of the file, for people.
    let found: [String]

    init(_ file: String, _ layout: CSVLayout, _ found: [String]) {
      func text(_ byte: UInt8) -> String { String(Unicode.Scalar(byte)) }
      (self.file, encoding, columns) = (file, layout.encoding.name, layout.columns)
      (headerLineNumber, self.found) = (layout.headerLineNumber, found)
      let dialect = layout.dialect
      self.dialect = Dialect(
        delimiter: text(dialect.delimiter), quote: text(dialect.quote), escape: dialect.escape.map(text))
    }
  }

  /// A column of a table with text that was converted to numbers.
  struct ConvertedColumn: Encodable {
    let column: String
    let declaredType: String
    let count: Int
    let firstLineNumber: Int
    let firstValue: String

    init(_ column: HeadwayImport.ConvertedColumn) {
      (self.column, declaredType, count) = (column.column, column.declaredType, column.count)
      (firstLineNumber, firstValue) = (column.firstLineNumber, column.firstValue)
    }
  }

  /// A table, while it is imported or at the end.
  struct Table: Encodable {
    let event: String
    let table: String
    let file: String
    let percent: Int
    let rowCount: Int
    let rejectedRowCount: Int
    let ignoredRowCount: Int
    let flaggedRowCount: Int
    let replacedRowCount: Int
    let removedRowCount: Int
    let schemaChanges: [String]?
    let convertedColumns: [ConvertedColumn]?
    let skippedRecordCount: Int
    let committedByteCount: Int
    let fileSize: Int?
    let seconds: Double
    let rowsPerSecond: Double
    let isComplete: Bool
    let rejectedRowsPath: String?
    let headerNotes: [String]?
    let notes: [String]?
    let uncheckedReferences: [String]?

    init(event: String, _ report: TableReport, percent: Int) {
      self.event = event
      (table, file, self.percent) = (report.table, report.file, percent)
      (rowCount, rejectedRowCount) = (report.rowCount, report.rejectedRowCount)
      ignoredRowCount = report.ignoredRowCount
      (flaggedRowCount, skippedRecordCount) = (report.flaggedRowCount, report.skippedRecordCount)
      rejectedRowsPath = report.rejectedRowsPath
      (replacedRowCount, removedRowCount) = (report.replacedRowCount, report.removedRowCount)
      schemaChanges = report.schemaChanges.isEmpty ? nil : report.schemaChanges
      let converted = report.convertedColumns.map(ConvertedColumn.init)
      convertedColumns = converted.isEmpty ? nil : converted
      headerNotes = report.headerNotes.isEmpty ? nil : report.headerNotes
      notes = report.notes.isEmpty ? nil : report.notes
      uncheckedReferences = report.uncheckedReferences.isEmpty ? nil : report.uncheckedReferences
      (committedByteCount, fileSize, seconds) = (report.committedByteCount, report.fileSize, report.seconds)
      (rowsPerSecond, isComplete) = (report.rowsPerSecond.rounded(), report.isComplete)
    }
  }

  /// An issue that `headway check` has found.
  struct Issue: Encodable {
    let event = "issue"
    let severity: String
    let code: String
    let file: String
    let message: String
    let count: Int
    let examples: [String]

    init(_ issue: FeedIssue) {
      (severity, code, file) = (issue.severity.rawValue, issue.code, issue.file)
      (message, count, examples) = (issue.message, issue.count, issue.examples)
    }
  }

  /// The end of `headway check`.
  struct Checked: Encodable {
    /// `finished` or `cancelled`.
    let event: String
    let errors: Int
    let warnings: Int
    let seconds: Double
    let exitCode: Int32
  }

  /// The end.
  ///
  /// The last line.
  struct End: Encodable {
    /// `finished`, `cancelled` or `error`.
    let event: String
    let tables: Int
    let rowCount: Int
    let rejectedRowCount: Int
    let ignoredRowCount: Int
    let flaggedRowCount: Int
    let seconds: Double
    let exitCode: Int32
    /// The reason, for people, if the exit code is neither 0 nor the code of a signal.
    let message: String?

    init(_ event: String, _ reports: [TableReport], seconds: Double, exitCode: Int32, message: String? = nil) {
      (self.event, self.seconds, self.exitCode, self.message) = (event, seconds, exitCode, message)
      tables = reports.count
      rowCount = reports.reduce(0) { $0 + $1.rowCount }
      rejectedRowCount = reports.reduce(0) { $0 + $1.rejectedRowCount }
      ignoredRowCount = reports.reduce(0) { $0 + $1.ignoredRowCount }
      flaggedRowCount = reports.reduce(0) { $0 + $1.flaggedRowCount }
    }
  }

  static func progress(_ report: TableReport, _ percent: Int) -> String {
    line(Table(event: "progress", report, percent: percent))
  }

  /// Returns the last line about a table.
  static func table(_ report: TableReport) -> String {
    line(Table(event: "table", report, percent: report.isComplete ? 100 : Int(ProgressLine.fraction(report) * 100)))
  }

  /// Returns one JSON object, without a line ending.
  static func line(_ event: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The fields are numbers and text, which can always be encoded.
    let text = (try? encoder.encode(event)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    // JSON need not escape these characters, but a terminal can interpret them.
    let safe = text.unicodeScalars.reduce(into: "") { result, scalar in
      if 0x7F..<0xA0 ~= scalar.value {
        result += "\\u00\(String(scalar.value, radix: 16))"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    // Bytes of paths that are not UTF-8, as `\xE9`. JSON doubles the backslash.
    return safe.replacingForeignBytes { "\\\\x" + String($0, radix: 16, uppercase: true) }
  }
}
#endif
