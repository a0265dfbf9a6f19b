#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
@testable import HeadwaySampleData
import HeadwayTestKit
import Testing

@Suite("Import: importing again", .hangLimit)
struct ReimportTests {
  @Test("I5: importing a feed twice gives the same database", arguments: [SampleFeed.LineEnding.lf, .crlf])
  func twice(lineEnding: SampleFeed.LineEnding) throws {
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 400, seed: 8, lineEnding: lineEnding).write(to: workspace.path("feed"))
      let database = try workspace.database()
      let first = try importFeed(workspace, database)
      let contents = try database.contents()
      let second = try importFeed(workspace, database)
      #expect(try database.contents() == contents)
      #expect(contents["stop_times"]?.count == 400)
      #expect(first.map(\.rowCount) == second.map(\.rowCount))
      #expect((first + second).allSatisfy { $0.rejectedRowCount == 0 && $0.isComplete })
      #expect(try database.isIntact())
    }
  }

  private func importFeed(
    _ workspace: Workspace, _ database: ImportDatabase, batchSize: Int = 50, cancellingAtBatch number: Int? = nil
  ) throws -> [TableReport] {
    let feed = try FeedImport(
      folder: workspace.path("feed"), into: database, options: ImportOptions(batchSize: batchSize))
    let commits = EventRecorder<Int>()
    for operation in feed.operations {
      operation.commitHandler = { _ in
        commits.record(1)
        if commits.events.count == number { feed.progress.cancel() }
      }
    }
    run(feed.operations)
    #expect(feed.operations.allSatisfy { $0.error == nil })
    return feed.reports
  }

  @Test("I5: importing a cancelled feed again gives the same content as an uninterrupted import")
  func cancelledFeed() throws {
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 300, seed: 5).write(to: workspace.path("feed"))
      let clean = try workspace.database()
      try importFeed(workspace, clean).forEach { #expect($0.isComplete) }
      let contents = try clean.contents()
      var random = SplitMix64(seed: 2_026)
      for attempt in 0..<10 {
        let database = try ImportDatabase(path: workspace.path("attempt-\(attempt).sqlite"))
        let batchSize = 1 + random.below(40)
        let cancelled = try importFeed(
          workspace, database, batchSize: batchSize, cancellingAtBatch: 1 + random.below(12))
        #expect(cancelled.contains { !$0.isComplete })
        for report in cancelled where report.rowCount > 0 {
          #expect(try database.count(report.table) == report.rowCount)
        }
        try importFeed(workspace, database, batchSize: batchSize).forEach { #expect($0.isComplete) }
        #expect(try database.contents() == contents)
        #expect(try database.isIntact())
      }
    }
  }

  @Test("I5: a killed import leaves an intact database, and importing again completes it")
  func killed() throws {
    try withWorkspace { workspace in
      for table in [TableSchema.people, .log] {
        let database = try workspace.database()
        let batches = EventRecorder<Int>()
        // The content of the disk immediately after a commit of a batch is the content that `kill -9` leaves.
        let operation = try workspace.operation(
          people(1...100), table: table, into: database, options: ImportOptions(batchSize: 10))
        operation.commitHandler = { report in
          batches.record(report.rowCount)
          for ending in ["", "-wal"] {
            try? FileManager.default.copyItem(
              atPath: database.path + ending, toPath: "\(database.path).\(table.name).\(report.rowCount)\(ending)")
          }
        }
        run(operation)
        let contents = try database.contents()[table.name]
        for rows in batches.events {
          let left = try ImportDatabase(path: "\(database.path).\(table.name).\(rows)")
          #expect(try left.isIntact())
          #expect(try left.count(table.name) == rows)
          run(try workspace.operation(people(1...100), table: table, into: left))
          #expect(try left.contents()[table.name] == contents)
        }
        #expect(batches.events.count == 10)
      }
    }
  }

  @Test("I5: changed rows are updated in place, new rows are added, and unchanged rows stay as they are")
  func updates() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...100), into: database))
      let before = try database.strings("SELECT rowid, * FROM people ORDER BY rowid")
      var lines = people((1...100).reversed())
      lines[20] = "80,changed"
      lines.append("101,new")
      let operation = try workspace.operation(lines, into: database, options: ImportOptions(batchSize: 33))
      run(operation)
      #expect(operation.report.rowCount == 101)
      #expect(operation.report.rejectedRowCount == 0)
      var expected = before
      expected[79] = "80|80|changed"
      expected.append("101|101|new")
      #expect(try database.strings("SELECT rowid, * FROM people ORDER BY rowid") == expected)
    }
  }

  @Test("I5: a value that became empty is removed")
  func emptied() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(["1,a", "2,b"], into: database))
      run(try workspace.operation(["1,", "2,b"], into: database))
      #expect(try database.strings("SELECT * FROM people") == ["1|NULL", "2|b"])
    }
  }

  @Test("I5: importing unchanged rows writes nothing")
  func unchanged() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...100), into: database))
      func changes() throws -> Int {
        try database.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT total_changes()") ?? -1 }
      }
      let before = try changes()
      let operation = try workspace.operation(people(1...100), into: database)
      run(operation)
      #expect(operation.report.rowCount == 100)
      // Except in the history of imports: that it began, and how it ended.
      #expect(try changes() == before + 2)
    }
  }

  @Test("I5: a table that has only key columns can be imported again", arguments: [["id"], ["id", "name"]])
  func keyOnly(key: [String]) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(name: "keys", columns: key.map { ColumnSchema(name: $0) }, key: key)
      let header = key.joined(separator: ",")
      let lines = (1...50).map { number in key.map { _ in "\(number)" }.joined(separator: ",") }
      for _ in 1...2 {
        let operation = try workspace.operation(lines, header: header, table: table, into: database)
        run(operation)
        #expect(operation.error == nil)
        #expect(operation.report.rejectedRowCount == 0)
        #expect(try database.count("keys") == 50)
      }
    }
  }

  // MARK: Without a key

  @Test(
    "I5: importing a file again into a table without a key leaves exactly the file's rows",
    arguments: [0, 1, 40, 49, 50, 51, 90])
  func withoutKey(rows: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      func importLines(_ lines: [String]) throws {
        let operation = try workspace.operation(
          lines, table: .log, into: database, options: ImportOptions(batchSize: 20))
        run(operation)
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == lines.count)
      }
      try importLines(people(1...50))
      try importLines((0..<rows).map { "\($0),new \($0)" })
      #expect(
        try database.strings("SELECT rowid, * FROM log ORDER BY rowid")
          == (0..<rows).map { "\($0 + 2)|\($0)|new \($0)" })
    }
  }

  @Test("I5: importing equal rows again into a table without a key does not change their number")
  func equalRows() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      for _ in 1...2 { run(try workspace.operation(["1,a", "1,a", "1,a"], table: .log, into: database)) }
      #expect(try database.strings("SELECT * FROM log") == ["1|a", "1|a", "1|a"])
    }
  }

  @Test("I5: importing a file again removes the row of a record that has become malformed", arguments: [1, 2, 3, 10])
  func becameMalformed(batchSize: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...6), table: .log, into: database))
      let lines = ["1,name 1", "broken", "3,\"a\"b", "4,name 4", "broken", "broken"]
      run(try workspace.operation(lines, table: .log, into: database, options: ImportOptions(batchSize: batchSize)))
      #expect(try database.strings("SELECT rowid, * FROM log") == ["2|1|name 1", "5|4|name 4"])
      // With the next file, the rows return to their places.
      run(try workspace.operation(people(1...6), table: .log, into: database))
      #expect(try database.strings("SELECT rowid, id FROM log ORDER BY rowid") == (1...6).map { "\($0 + 1)|\($0)" })
    }
  }

  // MARK: Other columns

  @Test("I5: a new column is added to the existing table, and a missing column keeps its values")
  func columns() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(["1,a", "2,b"], into: database))
      let operation = try workspace.operation(["9,1,c", "8,3,d"], header: "Extra \"1\",id,NAME", into: database)
      run(operation)
      #expect(operation.error == nil)
      #expect(try database.columns("people") == ["id", "name", "Extra \"1\""])
      #expect(try database.strings("SELECT * FROM people ORDER BY id") == ["1|c|9", "2|b|NULL", "3|d|8"])
      run(try workspace.operation(["1", "4"], header: "id", into: database))
      #expect(
        try database.strings("SELECT * FROM people ORDER BY id") == ["1|c|9", "2|b|NULL", "3|d|8", "4|NULL|NULL"])
    }
  }

  @Test("I5: the next import creates the indices that a cancelled import did not create")
  func indices() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "people", columns: TableSchema.people.columns, key: ["id"], indices: [["name"], ["absent"]])
      let cancelled = try workspace.operation(people(1...10), table: table, into: database)
      cancelled.commitHandler = { [weak cancelled] _ in cancelled?.cancel() }
      run(cancelled)
      let sql = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
      #expect(try database.strings(sql) == [])
      for _ in 1...2 {
        run(try workspace.operation(people(1...10), table: table, into: database))
        #expect(try database.strings(sql) == ["people_name"])
      }
    }
  }
}
#endif
