import HeadwayCSV
import Testing

@testable import HeadwayImport

@Suite("Import: rejected rows file", .hangLimit)
struct RejectedRowsFileTests {
  private func row(_ reason: String, _ record: [UInt8], table: String = "people", lineNumber: Int = 2) -> RowIssue {
    RowIssue(table: table, lineNumber: lineNumber, status: .rejected, reason: reason, record: record)
  }

  @Test("I3: the file contains the appended rows, regardless of their bytes")
  func roundTrip() throws {
    try withWorkspace { workspace in
      let rows = [
        row("plain", Array("a,b".utf8)),
        row("with \"quotes\", commas\nand lines", Array("\"open".utf8), lineNumber: 77),
        row("bytes", Array(0...255), table: "a,\"b\"\nc"),
        RowIssue(table: "", lineNumber: 1, status: .importedWithIssue, reason: "", record: []),
      ]
      let file = RejectedRowsFile(path: workspace.path("rejected-rows.csv"))
      try file.append(Array(rows[..<1]))
      try file.append([])
      try file.append(Array(rows[1...]))
      #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")) == rows)
    }
  }

  @Test("I3: a file is created only if there are rows, and existing files stay unchanged")
  func otherFiles() throws {
    try withWorkspace { workspace in
      for (name, others) in [("none.csv", []), ("a.csv", ["a.csv"]), ("b.c", ["b.c", "b-2.c"]), ("d", ["d"])] {
        for other in others { try workspace.write("old", to: other) }
        let file = RejectedRowsFile(path: workspace.path(name))
        try file.append([])
        #expect(workspace.exists(name) == !others.isEmpty)
        try file.append([row("new", [])])
        try file.append([row("newer", [])])
        for other in others { #expect(try workspace.bytes(of: other) == Array("old".utf8)) }
        let made = ["none.csv", "a-2.csv", "b-3.c", "d-2"].first { $0.hasPrefix(name.prefix(1)) }
        #expect(file.path == workspace.path(made ?? ""))
        #expect(try parsedRowIssues(workspace.bytes(of: made ?? "")) == [row("new", []), row("newer", [])])
      }
    }
  }

  @Test(
    "I3: the file for a table is in the folder, regardless of the table's name",
    arguments: [
      ("stops", "stops.csv"), ("../x", "_.._x.csv"), (".hidden", "_.hidden.csv"), ("a/b\0c", "a_b_c.csv"),
    ])
  func fileForTable(table: String, name: String) throws {
    try withWorkspace { workspace in
      let file = RejectedRowsFile(forTable: table, inFolder: workspace.path("rejected-rows"))
      #expect(!workspace.exists("rejected-rows"))
      try file.append([row("new", [], table: table)])
      #expect(workspace.exists("rejected-rows/\(name)"))
    }
  }

  @Test("I3: the file name for a table with a long name is truncated") func fileForLongName() throws {
    try fileForTable(
      table: String(repeating: "ü", count: 300), name: String(repeating: "ü", count: 100) + ".csv")
  }

  @Test("I3: a file that can't be written causes a typed error with its path")
  func unwritable() throws {
    try withWorkspace { workspace in
      let path = workspace.path("no folder/nor here/rejected-rows.csv")
      let file = RejectedRowsFile(path: path)
      let error = #expect(throws: ImportError.self) { try file.append([row("lost", [])]) }
      #expect(error?.code == .cannotWriteRejectedRows)
      #expect(error?.path == path)
    }
  }
}

/// The rows of a file of rejected rows, read with the package's own parser.
func parsedRowIssues(_ bytes: [UInt8]) throws -> [RowIssue] {
  var rows: [RowIssue] = []
  var malformed = 0
  var header: [String]?
  var parser = CSVParser()
  _ = bytes.withUnsafeBytes { bytes in
    parser.parse(bytes, isFinal: true) { record in
      if header == nil {
        header = record.fields
      } else if let line = Int(record.string(at: 1)), let status = RowIssue.Status(rawValue: record.string(at: 2)) {
        rows.append(
          RowIssue(
            table: record.string(at: 0), lineNumber: line, status: status, reason: record.string(at: 3),
            record: Array(record.unsafeBytes(at: 4))))
      } else {
        malformed += 1
      }
      return .continue
    } malformed: { _ in
      malformed += 1
      return .continue
    }
  }
  try #require(malformed == 0)
  try #require(header == ["table", "line", "status", "reason", "record"])
  return rows
}
