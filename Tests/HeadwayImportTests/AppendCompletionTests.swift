#if SQLite
import Dispatch
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
@testable import HeadwaySampleData
import HeadwayTestKit
import Testing

/// Appends that ended early and are run again.
@Suite("Import: completing interrupted appends", .hangLimit)
struct AppendCompletionTests {
  /// A table that no import has created, with one row, and another program's connection to its database.
  private struct Target {
    let workspace: Workspace
    let database: ImportDatabase
    let other: DatabaseQueue

    /// Appends a file and cancels after some batches.
    func append(
      _ file: String, key: [String] = [], batchSize: Int = 10, completesAppend: Bool = true,
      cancellingAfter batches: Int? = nil, onCommit: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> ImportOperation {
      let options = ImportOptions(
        batchSize: batchSize, existingRowPolicy: .append, completesAppend: completesAppend)
      let operation = ImportOperation(
        file: file, table: TableSchema(name: "t", columns: [], key: key), into: database, options: options,
        rejectedRows: workspace.rejectedRowsFile())
      let commits = EventRecorder<Int>()
      operation.commitHandler = { [weak operation] _ in
        commits.record(1)
        onCommit(commits.events.count)
        if commits.events.count == batches { operation?.cancel() }
      }
      run(operation)
      return operation
    }

    func execute(_ sql: String) throws { try other.write { try $0.execute(sql: sql) } }

    /// Which of the file's rows are in the table, by number.
    func numbers() throws -> [Int] {
      try database.pool.read {
        try Int.fetchAll($0, sql: "SELECT CAST(id AS INTEGER) AS n FROM t WHERE n > 0 ORDER BY n")
      }
    }
  }

  private func withTarget(
    _ definition: String = "(id INTEGER, name TEXT)", _ body: (Target) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let other = try DatabaseQueue(path: workspace.path("test.sqlite"))
      try other.write { try $0.execute(sql: "CREATE TABLE t \(definition); INSERT INTO t VALUES (0, 'mine')") }
      try body(Target(workspace: workspace, database: try workspace.database(), other: other))
      try other.close()
    }
  }

  private func write(_ numbers: ClosedRange<Int>, to name: String = "t.csv", in target: Target) throws -> String {
    try target.workspace.write(
      "id,name\n" + people(numbers).map { $0 + "\n" }.joined(), to: name)
  }

  @Test(
    "I10: repeating an interrupted append adds the missing rows, regardless of which program created the table",
    arguments: ["(id INTEGER, name TEXT)", "(id INTEGER PRIMARY KEY, name TEXT)"])
  func completion(definition: String) throws {
    try withTarget(definition) { target in
      let file = try write(1...100, in: target)
      #expect(target.append(file, cancellingAfter: 3).isCancelled)
      #expect(try target.numbers() == Array(1...30))
      let second = target.append(file)
      #expect(second.error == nil && second.report.rowCount == 100 && second.report.rejectedRowCount == 0)
      #expect(
        second.report.notes == ["an earlier import of this file ended behind record 31 and is completed"])
      #expect(try target.numbers() == Array(1...100))
      // That append was complete: now the rows are added again.
      guard definition.contains("KEY") == false else { return }
      #expect(target.append(file).error == nil)
      #expect(try target.database.count("t") == 201)
    }
  }

  @Test(
    "I10: an append adds each row once, even if it is interrupted and other programs add rows",
    arguments: 1...12 as ClosedRange<UInt64>)
  func randomInterruptions(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let definitions = [
      "(id INTEGER, name TEXT)", "(id INTEGER PRIMARY KEY, name TEXT)", "(id TEXT, name TEXT UNIQUE)",
    ]
    try withTarget(random.element(of: definitions)) { target in
      let count = 50 + random.below(200)
      let file = try write(1...count, in: target)
      let foreign = EventRecorder<Int>()
      @Sendable func addForeignRow() {
        foreign.record(1)
        let number = -foreign.events.count
        #expect(throws: Never.self) { try target.execute("INSERT INTO t VALUES (\(number), 'other \(number)')") }
      }
      for _ in 0..<random.below(4) {
        let commits = 1 + random.below(5)
        // Each bit determines whether another program adds a row after that commit.
        let additions = random.next()
        _ = target.append(file, batchSize: 1 + random.below(40), cancellingAfter: commits) { commit in
          if (additions >> UInt64(commit)) & 1 == 1 { addForeignRow() }
        }
        switch random.below(4) {
        case 0: addForeignRow()
        case 1: try target.other.vacuum()
        default: break
        }
      }
      let wasFinished = try target.numbers().count == count
      let last = target.append(file, batchSize: 1 + random.below(40)) { commit in
        if commit % 2 == 0 { addForeignRow() }
      }
      #expect(last.error == nil)
      guard !wasFinished else { return }
      #expect(try target.numbers() == Array(1...count))
      #expect(try target.database.count("t") == count + 1 + foreign.events.count)
      #expect(try target.database.isIntact())
    }
  }

  @Test("I10: completing an append counts each rejected row once and adds each other row once")
  func refusedRows() throws {
    try withTarget("(id INTEGER CHECK (id % 7 <> 0 OR id < 1), name TEXT)") { target in
      try target.execute("INSERT INTO t VALUES (-1, 'mine')")
      let file = try write(1...100, in: target)
      _ = target.append(file, cancellingAfter: 4)
      let second = target.append(file)
      #expect((second.report.rowCount, second.report.rejectedRowCount) == (86, 14))
      #expect(try target.numbers() == (1...100).filter { $0 % 7 != 0 })
    }
  }

  @Test("I10: a repeated append adds nothing if the file's beginning or its rows in the table have changed")
  func changes() throws {
    for change in ["file", "rows", "row"] {
      try withTarget { target in
        let file = try write(1...100, in: target)
        _ = target.append(file, cancellingAfter: 3)
        switch change {
        case "file": _ = try write(2...101, in: target)
        case "rows": try target.execute("DELETE FROM t WHERE id > 0")
        default: try target.execute("UPDATE t SET name = 'other' WHERE id = 30")
        }
        let before = try target.database.strings("SELECT * FROM t")
        let second = target.append(file)
        #expect(try importError(second).code == .unfinishedAppend, "\(change)")
        #expect(try target.database.strings("SELECT * FROM t") == before, "\(change)")
        // The caller requests a new append explicitly.
        let third = target.append(file, completesAppend: false)
        #expect(third.error == nil && third.report.rowCount == 100)
        #expect(try target.database.count("t") == before.count + 100)
        // This append was complete.
        #expect(target.append(file).error == nil)
        #expect(try target.database.count("t") == before.count + 200)
      }
    }
  }

  @Test(
    "I10: a repeated append adds nothing if rows are missing, even if other rows take their places",
    arguments: ["rowid > 251", "rowid BETWEEN 50 AND 99", "rowid < 301 AND rowid > 1"])
  func missingRows(condition: String) throws {
    for (othersAdd, vacuums) in [(false, false), (true, false), (false, true), (true, true)] {
      try withTarget { target in
        let text = "id,name\n" + String(repeating: "1,x\n", count: 400)
        let file = try target.workspace.write(text, to: "t.csv")
        _ = target.append(file, cancellingAfter: 30) { commit in
          guard commit == 10 else { return }
          #expect(throws: Never.self) { try target.execute("INSERT INTO t VALUES (0, 'mine')") }
        }
        try target.execute("DELETE FROM t WHERE \(condition)")
        if othersAdd {
          try target.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 320)
            INSERT INTO t SELECT 0, 'mine' FROM n
            """)
        }
        if vacuums { try target.other.vacuum() }
        let before = try target.database.count("t")
        #expect(try importError(target.append(file)).code == .unfinishedAppend)
        #expect(try target.database.count("t") == before)
      }
    }
  }

  @Test("I10: a repeated append by key detects missing rows and reports existing keys")
  func keyedRows() throws {
    try withTarget("(id INTEGER PRIMARY KEY, name TEXT CHECK (name <> 'name 7'))") { target in
      try target.execute("INSERT INTO t VALUES (25, 'mine')")
      let file = try write(1...100, in: target)
      let first = target.append(file, cancellingAfter: 3)
      #expect(first.report.rejectedRowCount == 2)
      #expect(
        try parsedRowIssues(target.workspace.bytes(of: "rejected-rows.csv")).map(\.reason).last
          == "the table has a row with this key (id)")
      // Other programs can change and add rows.
      try target.execute("UPDATE t SET name = 'changed' WHERE id = 30; INSERT INTO t VALUES (1000, 'mine')")
      try target.execute("DELETE FROM t WHERE id = 12")
      #expect(try importError(target.append(file)).code == .unfinishedAppend)
      #expect(try target.numbers().max() == 1_000 && target.numbers().count == 29)
      try target.execute("INSERT INTO t VALUES (12, 'name 12')")
      let second = target.append(file)
      #expect(second.error == nil && (second.report.rowCount, second.report.rejectedRowCount) == (98, 2))
      #expect(try target.numbers() == (1...100).filter { $0 != 7 } + [1_000])
    }
  }

  @Test("I10: a repeated append adds the new rows of a file that has grown") func grownFile() throws {
    try withTarget { target in
      let file = try write(1...50, in: target)
      _ = target.append(file, cancellingAfter: 3)
      _ = try write(1...80, in: target)
      #expect(target.append(file).error == nil)
      #expect(try target.numbers() == Array(1...80))
      // A file that is shorter than the rows that were added is another file.
      _ = target.append(try write(81...180, to: "u.csv", in: target), cancellingAfter: 5)
      let shrunk = target.append(try write(81...120, to: "u.csv", in: target))
      #expect(try importError(shrunk).code == .unfinishedAppend)
      #expect(try target.numbers() == Array(1...130))
    }
  }

  @Test("I10: an append completes a cancelled update after another program has added rows")
  func begunAsUpdate() throws {
    try withWorkspace { workspace in
      let target = Target(
        workspace: workspace, database: try workspace.database(),
        other: try DatabaseQueue(path: workspace.path("test.sqlite")))
      let file = try write(1...100, in: target)
      let first = ImportOperation(
        file: file, table: TableSchema(name: "t", columns: []), into: target.database,
        options: ImportOptions(batchSize: 10))
      first.commitHandler = { [weak first] _ in first?.cancel() }
      run(first)
      try target.execute("INSERT INTO t (id, name) VALUES (0, 'mine')")
      let second = ImportOperation(file: file, table: TableSchema(name: "t", columns: []), into: target.database)
      run(second)
      #expect(try importError(second).code == .foreignRows)
      #expect(target.append(file).error == nil)
      #expect(try target.numbers() == Array(1...100))
      #expect(try target.database.count("t") == 101)
      try target.other.close()
    }
  }

  @Test("I10: an append from a pipe is completed only if its content begins as before")
  func pipes() throws {
    try withTarget { target in
      let path = target.workspace.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      func appendPipe(
        _ numbers: ClosedRange<Int>, completesAppend: Bool = true, cancellingAfter batches: Int? = nil
      ) -> ImportOperation {
        let written = DispatchGroup()
        let text = "id,name\n" + people(numbers).map { $0 + "\n" }.joined()
        DispatchQueue.global().async(group: written) {
          try? FileHandle(forWritingAtPath: path)?.write(contentsOf: Data(text.utf8))
        }
        let operation = target.append(path, completesAppend: completesAppend, cancellingAfter: batches)
        written.wait()
        return operation
      }
      _ = appendPipe(1...100, cancellingAfter: 3)
      #expect(try target.numbers() == Array(1...30))
      #expect(try importError(appendPipe(101...200)).code == .unfinishedAppend)
      #expect(try target.numbers() == Array(1...30))
      #expect(appendPipe(1...100).error == nil)
      #expect(try target.numbers() == Array(1...100))
      // A complete append is not continued by the next one.
      #expect(appendPipe(101...120).error == nil)
      #expect(try target.numbers() == Array(1...120))
      _ = appendPipe(121...160, cancellingAfter: 1)
      #expect(appendPipe(201...210, completesAppend: false).error == nil)
      #expect(try target.numbers() == Array(1...130) + Array(201...210))
    }
  }

  @Test("I10: an import fails if another import has completed its append in the meantime")
  func takenOver() throws {
    try withTarget { target in
      let file = try write(1...100, in: target)
      let gate = Checkpoint()
      let slow = ImportOperation(
        file: file, table: TableSchema(name: "t", columns: []), into: target.database,
        options: ImportOptions(batchSize: 10, existingRowPolicy: .append))
      slow.stop(at: gate)
      let queue = Headway.OperationQueue()
      queue.addOperation(slow)
      gate.awaitArrival()
      // Another process does the same, and assumes that the first has ended.
      let other = try target.workspace.database()
      let second = ImportOperation(
        file: file, table: TableSchema(name: "t", columns: []), into: other,
        options: ImportOptions(existingRowPolicy: .append))
      run(second)
      #expect(second.error == nil)
      slow.commitHandler = nil
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(try importError(slow).code == .otherWriter)
      #expect(try target.numbers() == Array(1...100))
      try other.close()
    }
  }
}
#endif
