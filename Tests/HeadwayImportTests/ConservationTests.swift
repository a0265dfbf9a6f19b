#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayCSV
@testable import HeadwayImport
@testable import HeadwaySampleData
import Testing

/// Each record of a file is the header, in the table, or among the rejected rows, no matter how odd the header is.
@Suite("Import: no record is lost", .hangLimit)
struct ConservationTests {
  /// A small file with an odd header or odd first rows.
  private struct OddFile {
    var lines: [String] = []
    /// Whether one of its lines certainly names the columns: the first, with about as many names as the rows have
    /// fields.
    var hasHeader = true
    /// Words that occur in one row each, and in no header.
    var rowMarks: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }
    /// The records: lines that are not blank, since no field here is in quotes.
    var recordCount: Int { lines.count { !$0.isEmpty } }
  }

  private static let missing = [
    "#N/A", "n.d.", "unknown", "N/A", "-", "?", "null", "closed", "pending", "tbd", "k.A.",
  ]

  private func makeFile(_ random: inout SplitMix64) -> OddFile {
    var file = OddFile()
    let delimiter = [",", ";", "\t"][random.below(3)]
    let width = 2 + random.below(5)
    let kinds = (0..<width).map { _ in random.below(4) }
    let names = names(width, &random)
    let (headerDelimiter, rowDelimiter) = [("", ""), (delimiter, ""), ("", delimiter), ("", "")][random.below(4)]
    let hasNames = random.below(8) > 0
    file.hasHeader = hasNames
    for _ in 0..<[0, 0, 0, 1, 2, 3][random.below(6)] { file.lines.append(preamble(delimiter, &random)) }
    if !file.lines.isEmpty || names.count < 2 || abs(names.count - width) > 1 { file.hasHeader = false }
    if random.below(6) == 0 { file.lines.append("") }
    if hasNames { file.lines.append(names.joined(separator: delimiter) + headerDelimiter) }
    let count = 1 + random.below(12)
    for row in 0..<count {
      let mark = "row\(row)x"
      var values = kinds.enumerated().map { column, kind in
        switch kind {
        case 0: "\(column == 0 ? 0 : 1)\(random.below(90) + 10)"
        case 1: "\(random.below(90) + 1).\(random.below(9) + 1)"
        case 2: "20\(10 + random.below(10))-0\(1 + random.below(9))-1\(random.below(10))"
        default: ["red", "green", "blue", "Rome", "Oslo"][random.below(5)]
        }
      }
      values[width - 1] = mark
      if row < 2, random.below(3) == 0 {
        for column in 0..<width - 1 where random.below(2) == 0 {
          values[column] = Self.missing[random.below(Self.missing.count)]
        }
      }
      file.rowMarks.append(mark)
      file.lines.append(values.joined(separator: delimiter) + rowDelimiter)
      if random.below(30) == 0 { file.lines.append("") }
    }
    for _ in 0..<[0, 0, 0, 1, 2][random.below(5)] {
      file.lines.append(["Total", "\(count) rows", "Source: us\(delimiter)2020", "# end"][random.below(4)])
    }
    return file
  }

  /// Column names: words, years, numbers, duplicates.
  ///
  /// There is one per field, or one or two more or fewer.
  private func names(_ width: Int, _ random: inout SplitMix64) -> [String] {
    let count = max(1, width + [0, 0, 0, 1, -1, 2, -2][random.below(7)])
    let style = random.below(6)
    return (0..<count).map { column in
      switch style {
      case 0: column == 0 ? "country" : "\(2018 + column)"
      case 1: "\(2018 + column)"
      case 2: "\(column + 1)"
      case 3: column.isMultiple(of: 2) ? "name \(column)" : ""
      case 4: "value"
      default: ["id", "name", "town", "price", "day", "remark", "note", "x", "y"][column]
      }
    }
  }

  private func preamble(_ delimiter: String, _ random: inout SplitMix64) -> String {
    [
      "Sales of the year", "made\(delimiter)2020-01-01", "# by us", "Report\(delimiter)\(delimiter)",
      "from\(delimiter)1\(delimiter)to\(delimiter)9", "2020",
    ][random.below(6)]
  }

  @Test("I9: each record of a file with an odd header is the header, imported, or rejected")
  func sums() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["HEADWAY_ODD_FILES"].flatMap { Int($0) } ?? 300
    let seed = environment["HEADWAY_ODD_SEED"].flatMap { UInt64($0) } ?? 33
    var random = SplitMix64(seed: seed)
    let options = [
      ImportOptions(), ImportOptions(raggedRowPolicy: .pad), ImportOptions(hasHeader: true),
      ImportOptions(columnTypePolicy: .text),
    ].map { options in
      var options = options
      options.allowsNoRows = true
      return options
    }
    try withWorkspace { workspace in
      let database = try workspace.database()
      for number in 0..<count {
        let file = makeFile(&random)
        let path = try workspace.write(file.text, to: "f\(number).csv")
        let issues = RejectedRowsFile(path: workspace.path("r\(number).csv"))
        let operation = ImportOperation(
          file: path, into: database, options: options[random.below(options.count)], rejectedRows: issues)
        run(operation)
        try check(file, operation, database, workspace, number)
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  private func check(
    _ file: OddFile, _ operation: ImportOperation, _ database: ImportDatabase, _ workspace: Workspace, _ number: Int
  ) throws {
    guard operation.error == nil else {
      // A header without rows or without names does not create a table.
      let code = (operation.error as? ImportError)?.code
      #expect(code == .badHeader, "\(number): \(String(describing: operation.error))\n\(file.text)")
      return
    }
    let report = operation.report
    let rejected = workspace.exists("r\(number).csv") ? try parsedRowIssues(workspace.bytes(of: "r\(number).csv")) : []
    let headers = report.layout?.headerRecordCount ?? 0
    let inRejects = rejected.count { $0.status != .importedWithIssue }
    #expect(
      headers + report.rowCount + inRejects == file.recordCount,
      "\(number): \(headers) + \(report.rowCount) + \(inRejects) of \(file.recordCount)\n\(file.text)")
    #expect(try database.count("f\(number)") == report.rowCount)
    // If the first line is a header, no row names columns.
    guard file.hasHeader else { return }
    let stored = try database.strings("SELECT * FROM f\(number)").joined(separator: "\n")
    let refused = rejected.map { String(decoding: $0.record, as: UTF8.self) }.joined(separator: "\n")
    for mark in file.rowMarks {
      #expect(stored.contains(mark) || refused.contains(mark), "\(number): \(mark) is lost\n\(file.text)")
    }
  }
}
#endif
