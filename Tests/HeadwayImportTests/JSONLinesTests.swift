#if SQLite
  import Foundation
  import GRDB
  import Headway
  import HeadwayImport
  import Testing

  @Suite("Import: JSON Lines", .hangLimit)
  struct JSONLinesTests {
    private func imported(
      _ text: String, as name: String = "file.jsonl", table: TableSchema? = nil,
      options: ImportOptions = ImportOptions(), _ body: (ImportDatabase, ImportOperation) throws -> Void
    ) throws {
      try withWorkspace { workspace in
        let database = try workspace.database()
        let operation = ImportOperation(
          file: try workspace.write(text, to: name), table: table, into: database, options: options)
        run(operation)
        try body(database, operation)
      }
    }

    @Test("I7: the names of members are the columns, those of later objects too") func columns() throws {
      let text = """
        {"id": 1, "name": "Zoo \\"x\\"", "ok": true}

        {"name": "", "id": 2, "ok": false, "tags": ["a", {"b": null}]}
        {"id": 3, "name": null, "last": "one\\ntwo"}
        """
      try imported(text) { (database, operation) throws in
        #expect(operation.error == nil && operation.report.rejected == 0)
        #expect(operation.report.form?.isJSONLines == true)
        #expect(try database.columns("file") == ["id", "name", "ok", "tags", "last"])
        #expect(
          try database.strings("SELECT quote(id), quote(name), quote(ok), quote(tags), quote(last) FROM file") == [
            "1|'Zoo \"x\"'|1|NULL|NULL", "2|''|0|'[\"a\", {\"b\": null}]'|NULL", "3|NULL|NULL|NULL|'one\ntwo'",
          ])
      }
    }

    @Test("I7: lines that are no object are rejected with their number, and every other line is a row")
    func rejects() throws {
      let lines = ["{\"a\":1}", "", "[1]", "{\"a\":2,\"a\":3}", "{\"a\":", "{\"a\":4}", "{\"a\":5} {\"a\":6}"]
      try withWorkspace { workspace in
        let database = try workspace.database()
        let file = try workspace.write(lines.joined(separator: "\r\n"), to: "file.jsonl")
        let operation = ImportOperation(file: file, into: database, rejects: workspace.rejects())
        run(operation)
        #expect(operation.report.rows == 2 && operation.report.rejected == 4)
        #expect(try database.strings("SELECT a FROM file ORDER BY rowid") == ["1", "4"])
        let rejects = try parsedRejects(workspace.bytes(of: "rejects.csv"))
        #expect(rejects.map(\.line) == [3, 4, 5, 7])
        #expect(rejects.map { String(decoding: $0.record, as: UTF8.self) } == [2, 3, 4, 6].map { lines[$0] })
      }
    }

    @Test("I7: no member is lost of what can be read only once: one that comes late is a reject") func pipes() throws {
      try withWorkspace { workspace in
        let database = try workspace.database()
        let count = 30_000
        let text = (0..<count).map { "{\"id\":\($0),\"name\":\"a name that takes some room\"}\n" }.joined()
        let pipe = Pipe()
        let operation = ImportOperation(
          file: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)", table: TableSchema(name: "t", columns: []),
          into: database)
        let writer = Headway.BlockOperation {
          try? pipe.fileHandleForWriting.write(contentsOf: Data((text + "{\"id\":1,\"late\":2}\n").utf8))
          try? pipe.fileHandleForWriting.close()
        }
        let queue = Headway.OperationQueue()
        queue.addOperation(writer)
        run(operation)
        #expect(operation.report.rows == count && operation.report.rejected == 1)
        #expect(try database.strings("SELECT count(*), sum(id) FROM t") == ["\(count)|\(count * (count - 1) / 2)"])
      }
    }

    @Test("I7: importing again updates in place by key") func again() throws {
      try withWorkspace { workspace in
        let database = try workspace.database()
        let table = TableSchema(name: "t", columns: [], key: ["id"])
        let file = try workspace.write("{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n", to: "t.jsonl")
        run(ImportOperation(file: file, table: table, into: database))
        _ = try workspace.write("{\"n\":3,\"id\":\"b\"}\n{\"id\":\"c\",\"n\":4}\n", to: "t.jsonl")
        let second = ImportOperation(file: file, table: table, into: database)
        run(second)
        #expect(second.error == nil)
        #expect(try database.strings("SELECT id, n FROM t ORDER BY id") == ["a|1", "b|3", "c|4"])
      }
    }

    @Test(
      "I7: JSON that is not one object per line is an error that says how to convert it",
      arguments: ["{\n  \"a\": 1\n}\n", "[{\"a\": 1}]\n"])
    func otherJSON(text: String) throws {
      try imported(text) { (_, operation) throws in
        let error = try #require(operation.error as? ImportError)
        #expect(error.code == .foreignContent && error.message.contains("jq"))
      }
    }

    @Test("I7: a line over the limit is rejected whole, and reading goes on behind it") func longLine() throws {
      let long = "{\"a\":\"\(String(repeating: "x", count: 17 << 20))\"}"
      try imported("{\"a\":\"1\"}\n\(long)\n{\"a\":\"2\"}\n") { (database, operation) throws in
        #expect(operation.report.rows == 2 && operation.report.rejected == 1)
        #expect(try database.strings("SELECT a FROM file ORDER BY rowid") == ["1", "2"])
      }
    }
  }
#endif
