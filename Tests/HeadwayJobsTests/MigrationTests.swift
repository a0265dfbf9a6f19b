@_spi(JobStore) import HeadwayJobs
import Testing

/// The migrations of stores in SQL databases.
struct MigrationTests {
  private let migrations = [
    StoreMigration(1, "CREATE TABLE a (b text);\nCREATE TABLE c (\n  d text);"), StoreMigration(2, "DROP TABLE c;"),
  ]

  @Test("J106: a migration consists of statements, and the body of a function is part of one statement")
  func statements() {
    #expect(migrations[0].statements == ["CREATE TABLE a (b text);", "CREATE TABLE c (\n  d text);"])
    let function = "CREATE FUNCTION f() RETURNS void AS $body$\nDELETE FROM a;\nDELETE FROM c;\n$body$;"
    let body = StoreMigration(3, "\(function)\n-- A comment.\nSELECT f() AS $body$ || $body$;\n")
    #expect(body.statements == [function, "-- A comment.\nSELECT f() AS $body$ || $body$;"])
  }

  @Test("J106: tables are migrated by the migrations that follow their own version", arguments: 0...4)
  func versions(stored: Int64) throws {
    #expect(migrations.version == 2)
    guard stored <= 3 else {
      let error = #expect(throws: JobError.self) { try migrations.missing(after: stored, orUse: "another database") }
      #expect(error?.code == .newerSchema)
      return
    }
    let missing = try migrations.missing(after: stored, orUse: "another database")
    #expect(missing.map(\.number) == (stored < 2 ? Array(stored + 1...2) : []))
  }
}
