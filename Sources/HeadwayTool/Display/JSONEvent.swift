#if SQLite
import Foundation
import Headway
import HeadwayCSV
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
    let headerLine: Int?
    /// Unusual properties of the file, for people.
    let found: [String]

    init(_ file: String, _ form: FileForm, _ found: [String]) {
      func text(_ byte: UInt8) -> String { String(Unicode.Scalar(byte)) }
      (self.file, encoding, columns) = (file, form.encoding.name, form.columns)
      (headerLine, self.found) = (form.headerLine, found)
      let dialect = form.dialect
      self.dialect = Dialect(
        delimiter: text(dialect.delimiter), quote: text(dialect.quote), escape: dialect.escape.map(text))
    }
  }

  /// A column of a table in which text was converted to numbers.
  struct ConvertedColumn: Encodable {
    let column: String
    let declaredType: String
    let count: Int
    let firstLine: Int
    let firstValue: String

    init(_ column: HeadwayImport.ConvertedColumn) {
      (self.column, declaredType, count) = (column.column, column.declaredType, column.count)
      (firstLine, firstValue) = (column.firstLine, column.firstValue)
    }
  }

  /// A table, while it is imported or at the end.
  struct Table: Encodable {
    let event: String
    let table: String
    let file: String
    let percent: Int
    let rows: Int
    let rejected: Int
    let reported: Int
    let replaced: Int
    let removed: Int
    let schemaChanges: [String]?
    let convertedColumns: [ConvertedColumn]?
    let skipped: Int
    let bytes: Int
    let size: Int?
    let seconds: Double
    let rowsPerSecond: Double
    let isComplete: Bool
    let rejects: String?
    let notes: [String]?
    let uncheckedReferences: [String]?

    init(event: String, _ report: TableReport, percent: Int) {
      self.event = event
      (table, file, self.percent, rows) = (report.table, report.file, percent, report.rows)
      (rejected, reported, skipped) = (report.rejected, report.reported, report.skipped)
      rejects = report.rejectsPath
      (replaced, removed) = (report.replaced, report.removed)
      schemaChanges = report.schemaChanges.isEmpty ? nil : report.schemaChanges
      let converted = report.convertedColumns.map(ConvertedColumn.init)
      convertedColumns = converted.isEmpty ? nil : converted
      notes = report.notes.isEmpty ? nil : report.notes
      uncheckedReferences = report.uncheckedReferences.isEmpty ? nil : report.uncheckedReferences
      (bytes, size, seconds) = (report.bytes, report.size, report.seconds)
      (rowsPerSecond, isComplete) = (report.rowsPerSecond.rounded(), report.isComplete)
    }
  }

  /// A finding of `--check`.
  struct Finding: Encodable {
    let event = "finding"
    let severity: String
    let code: String
    let file: String
    let message: String
    let count: Int
    let examples: [String]

    init(_ finding: FeedFinding) {
      (severity, code, file) = (finding.severity.rawValue, finding.code, finding.file)
      (message, count, examples) = (finding.message, finding.count, finding.examples)
    }
  }

  /// The end of `--check`.
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
    let rows: Int
    let rejected: Int
    let reported: Int
    let seconds: Double
    let exitCode: Int32
    /// The reason, for people, if the exit code is neither 0 nor that of a signal.
    let message: String?

    init(_ event: String, _ reports: [TableReport], seconds: Double, exitCode: Int32, message: String? = nil) {
      (self.event, self.seconds, self.exitCode, self.message) = (event, seconds, exitCode, message)
      tables = reports.count
      rows = reports.reduce(0) { $0 + $1.rows }
      rejected = reports.reduce(0) { $0 + $1.rejected }
      reported = reports.reduce(0) { $0 + $1.reported }
    }
  }

  static func progress(_ report: TableReport, _ percent: Int) -> String {
    line(Table(event: "progress", report, percent: percent))
  }

  /// Returns one JSON object, without a line end.
  static func line(_ event: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The fields are numbers and text, which can always be encoded.
    let text = (try? encoder.encode(event)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    // Bytes of paths that are not UTF-8, as `\xE9`. JSON doubles the backslash.
    return text.replacingForeignBytes { "\\\\x" + String($0, radix: 16, uppercase: true) }
  }
}
#endif
