#if SQLite
import GRDB
import Headway
import HeadwayImport
import Testing

@Suite("Import: database", .hangLimit)
struct DurabilityTests {
  @Test(
    "I1: the writing connection has the specified durability, and uses a write-ahead log",
    arguments: Durability.allCases)
  func synchronous(durability: Durability) throws {
    try withWorkspace { workspace in
      for _ in 1...2 {  // A new database, and an existing one.
        let database = try workspace.database(durability)
        run(try workspace.operation(people(1...10), into: database))
        let (synchronous, journal, foreignKeys) = try database.pool.writeWithoutTransaction { connection in
          (
            try Int.fetchOne(connection, sql: "PRAGMA synchronous"),
            try String.fetchOne(connection, sql: "PRAGMA journal_mode"),
            try Int.fetchOne(connection, sql: "PRAGMA foreign_keys")
          )
        }
        #expect(synchronous == (durability == .full ? 2 : 1))
        #expect(journal == "wal")
        #expect(foreignKeys == 0)
        #expect(database.durability == durability)
        try database.close()
      }
    }
  }

  @Test("I1: normal durability is the default")
  func defaultDurability() throws {
    try withWorkspace { workspace in
      let database = try ImportDatabase(path: workspace.path("a.sqlite"))
      #expect(database.durability == .normal)
    }
  }

  @Test("I1: a database that can't be opened causes a typed error with its path")
  func cannotOpen() throws {
    try withWorkspace { workspace in
      try workspace.write(String(repeating: "This isn't a database. ", count: 100), to: "text.sqlite")
      for name in ["no folder/x.sqlite", "text.sqlite"] {
        let error = #expect(throws: ImportError.self) { try ImportDatabase(path: workspace.path(name)) }
        #expect(error?.code == .database)
        #expect(error?.path == workspace.path(name))
        #expect(error?.underlyingError is DatabaseError)
      }
    }
  }

  @Test("I1: another connection can write between two batches of an import")
  func otherWriter() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(people(1...100), into: database, options: ImportOptions(batchSize: 10))
      let gate = Checkpoint()
      operation.commitHandler = { if $0.rowCount == 50 { gate.pass() } }
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)
      gate.awaitArrival()
      // The import pauses between two transactions, so another connection can write.
      let elsewhere = try DatabaseQueue(path: database.path)
      try elsewhere.write { try $0.execute(sql: "CREATE TABLE other (a); INSERT INTO other VALUES (1)") }
      gate.open()
      try database.pool.write { try $0.execute(sql: "CREATE TABLE third (a)") }
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.error == nil)
      #expect(try database.count("people") == 100)
      #expect(try database.count("other") == 1)
    }
  }
}
#endif
