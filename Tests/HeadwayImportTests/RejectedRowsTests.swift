#if SQLite
import GRDB
import Headway
import HeadwayCSV
import HeadwayImport
import Testing

/// Every kind of row that can't be imported.
@Suite("Import: rejected rows", .hangLimit)
struct RejectedRowsTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let record: [UInt8]
    let reason: String

    init(_ name: String, _ record: String, _ reason: String) {
      (testDescription, self.record, self.reason) = (name, Array(record.utf8), reason)
    }

    init(_ name: String, bytes: [UInt8], _ reason: String) {
      (testDescription, record, self.reason) = (name, bytes, reason)
    }

    static let all = [
      Case("too few fields", "8", "expected 2 fields, found 1"),
      Case("too many fields", "8,a,", "expected 2 fields, found 3"),
      Case("text behind a quote", "8,\"a\"b", "text after a closing quote"),
      Case("invalid UTF-8", bytes: [0x38, 0x2C, 0xFF, 0x41], "not valid UTF-8"),
      Case("UTF-8 that is cut", bytes: [0x38, 0x2C, 0xC3], "not valid UTF-8"),
      Case("a surrogate in UTF-8", bytes: [0x38, 0x2C, 0xED, 0xA0, 0x80], "not valid UTF-8"),
      Case("nothing where something is required", ",a", "id is empty"),
      Case("nothing in quotes", "\"\",a", "id is empty"),
      Case("a repeated key", "1,again", "an earlier row has this key (id)"),
      Case("a repeated key, in quotes", "\"1\",\"a\ngain\"", "an earlier row has this key (id)"),
    ]
  }

  @Test(
    "I3: a malformed row is counted and written to the file, and the other rows are imported",
    arguments: Case.all, [1, 32, 250])
  func eachKind(malformed: Case, batchSize: Int) throws {
    for isAgain in [false, true] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        if isAgain { run(try workspace.operation(people(1...50), into: database)) }
        for position in [1, 31, 32, 50] {
          let before = people(1...position).map { $0 + "\n" }.joined()
          let after = people(100...150).map { $0 + "\n" }.joined()
          let text = Array("id,name\n\(before)".utf8) + malformed.record + Array("\n\(after)".utf8)
          let operation = ImportOperation(
            file: try workspace.write(text, to: "people.csv"), table: .people, into: database,
            options: ImportOptions(batchSize: batchSize, encoding: .utf8), rejectedRows: workspace.rejectedRowsFile())
          run(operation)
          #expect(operation.error == nil)
          #expect(operation.report.isComplete)
          #expect(operation.report.rowCount == position + 51)
          #expect(operation.report.rejectedRowCount == 1)
          #expect(operation.report.flaggedRowCount == 0)
          let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
          #expect(issues.map(\.lineNumber) == [position + 2])
          #expect(issues.map(\.record) == [malformed.record])
          #expect(issues.first?.status == .rejected)
          #expect(issues.first?.table == "people")
          #expect(issues.first?.reason.contains(malformed.reason) == true, "\(issues.first?.reason ?? "")")
          let rows = try database.strings(
            "SELECT * FROM people WHERE id + 0 <= \(position) OR id + 0 >= 100 ORDER BY id + 0")
          #expect(rows == (Array(1...position) + Array(100...150)).map { "\($0)|name \($0)" })
          if !isAgain { try database.pool.write { try $0.execute(sql: "DROP TABLE people") } }
        }
      }
    }
  }

  @Test("I3: an unclosed quote affects only its own line")
  func unclosedQuote() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(
        people(1...3) + ["4,\"open"] + people(5...400), into: database, rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      #expect(issues.map(\.lineNumber) == [5])
      #expect(issues.map(\.record) == [Array("4,\"open".utf8)])
      #expect(issues.first?.reason.hasSuffix(": a quote that is never closed") == true)
      #expect(operation.report.rowCount == 399)
      #expect(operation.report.rejectedRowCount == 1)
    }
  }

  @Test("I3: line numbers match those in a text editor, regardless of earlier rows")
  func lines() throws {
    try withWorkspace { workspace in
      let lines = ["1,\"a\nb\r\nc\"", "broken", "", "2,\"x\n\"", "", "broken again,,"]
      let operation = try workspace.operation(
        lines, into: try workspace.database(), rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      #expect(operation.report.rowCount == 2)
      #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.lineNumber) == [5, 10])
    }
  }

  @Test("I3: an import of only malformed rows reports each of them and creates no table")
  func onlyMalformed() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(
        Array(repeating: "broken", count: 1_000), into: database, options: ImportOptions(batchSize: 30),
        rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      #expect(try importError(operation).code == .noRows)
      #expect(operation.report.rejectedRowCount == 1_000)
      #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.lineNumber) == Array(2...1_001))
      #expect(try database.columns("people") == [])
    }
  }

  @Test("I3: rejected rows are counted even if no file is specified for them")
  func withoutAFile() throws {
    try withWorkspace { workspace in
      let operation = try workspace.operation(["1,a", "x", "1,b", "2,c"], into: try workspace.database())
      run(operation)
      #expect(operation.report.rejectedRowCount == 2)
      #expect(operation.report.rowCount == 2)
    }
  }

  // MARK: Keys

  @Test(
    "I3: the first of several rows with the same key is imported, regardless of their positions",
    arguments: [1, 5, 32, 33, 100, 250])
  func duplicates(batchSize: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      var lines = people(1...200)
      // In the first statement of a batch, in the last one, next to each other, the very last row, and with the key of
      // a distant row.
      let places = [1, 31, 32, 33, 64, 65, 99, 100, 101, 160, 199]
      for place in places { lines[place] = "\(1 + place / 3),duplicate at \(place)" }
      let isFirst = (1...200).map { number in !places.contains(number - 1) }
      for _ in 1...2 {
        let operation = try workspace.operation(
          lines, into: database, options: ImportOptions(batchSize: batchSize),
          rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == 200 - places.count + keptDuplicates(lines).count)
        let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
        #expect(issues.map { Int($0.lineNumber) } == expectedDuplicateLines(lines))
        #expect(issues.allSatisfy { $0.reason == "an earlier row has this key (id)" })
        #expect(operation.report.rejectedRowCount == issues.count)
        let rows = try database.strings("SELECT name FROM people ORDER BY rowid")
        #expect(rows == firstOfEachKey(lines))
        #expect(isFirst.count { $0 } == 200 - places.count)
      }
    }
  }

  private func key(_ line: String) -> Substring { line.prefix { $0 != "," } }

  private func expectedDuplicateLines(_ lines: [String]) -> [Int] {
    var seen: Set<Substring> = []
    return lines.indices.filter { !seen.insert(key(lines[$0])).inserted }.map { $0 + 2 }
  }

  private func firstOfEachKey(_ lines: [String]) -> [String] {
    var seen: Set<Substring> = []
    return lines.filter { seen.insert(key($0)).inserted }.map { String($0.drop { $0 != "," }.dropFirst()) }
  }

  private func keptDuplicates(_ lines: [String]) -> [String] {
    firstOfEachKey(lines).filter { $0.hasPrefix("duplicate") }
  }

  @Test("I3: two keys of several columns are equal only if all columns are equal, even empty ones")
  func compositeKeys() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "pairs",
        columns: [ColumnSchema(name: "a"), ColumnSchema(name: "n", type: .integer), ColumnSchema(name: "v")],
        key: ["a", "n", "absent"].dropLast())
      for _ in 1...2 {
        let operation = try workspace.operation(
          ["x,1,first", "x,2,second", "x,01,again", ",1,third", "x,,fourth", ",1,again", "\"x\",,again", ",,fifth"],
          header: "a,n,v", table: table, into: database, rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        #expect(operation.error == nil)
        #expect(
          try database.strings("SELECT v FROM pairs ORDER BY rowid") == [
            "first", "second", "third", "fourth", "fifth",
          ])
        #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.lineNumber) == [4, 7, 8])
      }
    }
  }

  @Test("I3: rows whose integer key is not a whole number are rejected, and the import continues")
  func rowIdentifierKeys() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "numbers", columns: [ColumnSchema(name: "id", type: .integer), ColumnSchema(name: "name")], key: ["id"])
      for _ in 1...2 {
        let operation = try workspace.operation(
          ["5,a", "x,b", ",c", "1.5,d", "7,e", "007,f", "99999999999999999999,g", "-3,h"], table: table,
          into: database, rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        #expect(operation.error == nil)
        #expect(
          try database.strings("SELECT id, name, typeof(id) FROM numbers ORDER BY id") == [
            "-3|h|integer", "5|a|integer", "7|e|integer",
          ])
        let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
        #expect(issues.map(\.lineNumber) == [3, 4, 5, 7, 8])
        #expect(issues.allSatisfy { $0.status == .rejected })
        #expect(operation.report.flaggedRowCount == 0)
        #expect(operation.report.rejectedRowCount == 5)
      }
    }
  }

  @Test("I3: a rejected row is not also reported as imported")
  func rejectedAndReported() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "t", columns: [ColumnSchema(name: "id"), ColumnSchema(name: "n", type: .integer)], key: ["id"])
      for _ in 1...2 {
        let operation = try workspace.operation(
          ["a,1", "b,many", "a,few"], header: "id,n", table: table, into: database,
          rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
        #expect(issues.map(\.lineNumber) == [3, 4])
        #expect(issues.map(\.status) == [.importedWithIssue, .rejected])
        #expect(operation.report.flaggedRowCount == 1)
        #expect(operation.report.rejectedRowCount == 1)
      }
    }
  }

  // MARK: Types

  @Test("I3: values that do not fit the type of their column are stored as text and reported")
  func types() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "t",
        columns: [
          ColumnSchema(name: "id"), ColumnSchema(name: "i", type: .integer), ColumnSchema(name: "r", type: .real),
        ], key: ["id"])
      let lines = [
        "1,12,1.5", "2,many,near", "3,,", "4,0x10,0x10", "5,inf,nan", "6, 7 , 7 ", "7,-0,-0.0", "8,1_0,1_0",
        "9,9223372036854775807,9223372036854775807", "10,\t7,\t7",
      ]
      let operation = try workspace.operation(
        lines, header: "id,i,r", table: table, into: database, rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      #expect(operation.report.rejectedRowCount == 0)
      #expect(operation.report.rowCount == lines.count)
      #expect(
        try database.strings("SELECT i, typeof(i), r, typeof(r) FROM t ORDER BY rowid") == [
          "12|integer|1.5|real", "many|text|near|text", "NULL|null|NULL|null", "0x10|text|0x10|text",
          "inf|text|nan|text", "7|integer|7.0|real", "0|integer|0.0|real", "1_0|text|1_0|text",
          "9223372036854775807|integer|9.223372036854776e+18|real", "7|integer|7.0|real",
        ])
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      #expect(issues.map(\.lineNumber) == [3, 3, 5, 5, 6, 6, 9, 9])
      #expect(issues.allSatisfy { $0.status == .importedWithIssue })
      #expect(issues.first?.reason == "i: “many” is not a whole number; kept as text")
      #expect(issues.dropFirst().first?.reason == "r: “near” is not a number; kept as text")
      #expect(issues.first?.record == Array("2,many,near".utf8))
      #expect(operation.report.flaggedRowCount == 8)
    }
  }

  @Test("I3: a decimal number in an integer column is stored as a number and reported")
  func decimalsForIntegers() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "t", columns: [ColumnSchema(name: "i", type: .integer), ColumnSchema(name: "name")], key: ["name", "i"])
      for _ in 1...2 {
        let operation = try workspace.operation(
          ["1.5,a", "1.0,b", "1e3,c", "99999999999999999999,d", "1,b"], header: "i,name", table: table,
          into: database,
          rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        #expect(operation.error == nil)
        #expect(
          try database.strings("SELECT i, typeof(i) FROM t ORDER BY rowid") == [
            "1.5|real", "1|integer", "1000|integer", "1e+20|real",
          ])
        let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
        // In addition, the last row has the key of the second: 1.0 is 1.
        #expect(issues.map(\.lineNumber) == [2, 3, 4, 5, 6])
        #expect(
          issues.map(\.status) == [
            .importedWithIssue, .importedWithIssue, .importedWithIssue, .importedWithIssue, .rejected,
          ])
        #expect(issues.allSatisfy { !$0.reason.contains("as text") })
      }
    }
  }
}
#endif
