import HeadwayCSV
import Testing

@testable import HeadwayImport

@Suite("Import: rejects file", .hangLimit)
struct RejectsFileTests {
  private func row(_ reason: String, _ record: [UInt8], table: String = "people", line: Int = 2) -> RejectedRow {
    RejectedRow(table: table, line: line, status: .rejected, reason: reason, record: record)
  }

  @Test("I3: the file has what was appended, whatever bytes it is made of")
  func roundTrip() throws {
    try withWorkspace { workspace in
      let rows = [
        row("plain", Array("a,b".utf8)),
        row("with \"quotes\", commas\nand lines", Array("\"open".utf8), line: 77),
        row("bytes", Array(0...255), table: "a,\"b\"\nc"),
        RejectedRow(table: "", line: 1, status: .reported, reason: "", record: []),
      ]
      let file = try RejectsFile(path: workspace.path("rejects.csv"))
      try file.append(Array(rows[..<1]))
      try file.append([])
      try file.append(Array(rows[1...]))
      #expect(try parsedRejects(workspace.bytes(of: "rejects.csv")) == rows)
    }
  }

  @Test("I3: without a row there is no file, and that of an earlier import is removed")
  func removal() throws {
    try withWorkspace { workspace in
      let path = try workspace.write("old", to: "rejects.csv")
      let file = try RejectsFile(path: path)
      #expect(!workspace.exists("rejects.csv"))
      try file.append([])
      #expect(!workspace.exists("rejects.csv"))
      try file.append([row("new", [])])
      #expect(try parsedRejects(workspace.bytes(of: "rejects.csv")) == [row("new", [])])
    }
  }

  @Test("I3: a file that can't be written is a typed error with its path")
  func unwritable() throws {
    try withWorkspace { workspace in
      let path = workspace.path("no folder/rejects.csv")
      let file = try RejectsFile(path: path)
      let error = #expect(throws: ImportError.self) { try file.append([row("lost", [])]) }
      #expect(error?.code == .cannotWriteRejects)
      #expect(error?.path == path)
    }
  }
}

/// The rows of a rejects file, read with the package's own parser.
func parsedRejects(_ bytes: [UInt8]) throws -> [RejectedRow] {
  var rows: [RejectedRow] = []
  var malformed = 0
  var header: [String]?
  var parser = CSVParser()
  _ = bytes.withUnsafeBytes { bytes in
    parser.parse(bytes, isFinal: true) { record in
      if header == nil {
        header = record.fields
      } else if let line = Int(record.string(at: 1)), let status = RejectedRow.Status(rawValue: record.string(at: 2)) {
        rows.append(
          RejectedRow(
            table: record.string(at: 0), line: line, status: status, reason: record.string(at: 3),
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
