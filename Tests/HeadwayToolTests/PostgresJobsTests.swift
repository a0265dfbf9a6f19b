#if PostgreSQL
import ArgumentParser
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayJobsSQLite
import HeadwayTestSupport
@testable import HeadwayTool
import Testing

/// Durable jobs in PostgreSQL, shown and changed by the tool.
@Suite("headway jobs on PostgreSQL", .hangLimit)
struct PostgresJobsTests {
  @Test("J106, J109, J123, J149: the tool creates tables, shows, cancels and checks jobs, and grants privileges")
  func commands() async throws {
    let folder = try TemporaryFolder()
    let server = try PostgresServer()
    func run(_ arguments: String...) async throws -> Tool.Run {
      try await Tool.run(["jobs"] + arguments + ["--store", server.url], in: folder)
    }
    let before = try await run("list")
    #expect(before.status == 65 && before.errors.joined().contains("headway jobs migrate"), "\(before)")
    #expect(try await run("migrate").output == ["postgres://postgres@/postgres: up to date."])

    let store = try await PostgresJobStore(server.url, migration: .manual)
    let new = NewJob(kind: "resize", payload: JobPayload(bytes: Array("{}".utf8)), options: JobOptions())
    let id = try await store.enqueue([new])[0].id
    #expect(try await run("list").output.count == 2)
    #expect(try await run("cancel", "\(id)").status == 0)
    #expect(try await Jobs(store).job(id)?.state == .cancelled)
    let check = try await run("check")
    #expect(check.status == 0 && check.output == ["postgres://postgres@/postgres: 0 defects."], "\(check)")
    let doctor = try await run("doctor")
    let names = doctor.output.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
    #expect(
      names.suffix(8) == [
        "Version", "Durability", "Connections", "Transactions", "Vacuum", "Privileges", "Notifications", "Commit",
      ], "\(doctor)")
    // The server of the tests runs with fsync = off.
    #expect(doctor.status == 1 && doctor.output.contains { $0.contains("fsync = off") }, "\(doctor)")
    let grant = try await run("grant", "read", "auditors")
    #expect(grant.output == ["postgres://postgres@/postgres: auditors has the privilege read."], "\(grant)")
    let again = try await run("grant", "work", "auditors", "--json")
    #expect(again.output.joined().contains("\"privilege\":\"work\""), "\(again)")
    await store.close()
  }

  @Test("J123: a store in a file has no roles")
  func file() async throws {
    let folder = try TemporaryFolder()
    let file = "\(folder.path)/jobs.sqlite"
    await (try SQLiteJobStore(path: file)).close()
    let run = try await Tool.run(["jobs", "grant", "read", "x", "--store", file], in: folder)
    #expect(run.status == 64 && run.errors.joined().contains("Use the permissions of the file."), "\(run)")
  }

  @Test("J122: the name of a store has no password") func name() {
    for password in ["postgres://app:secret@db/app", "postgresql://app@db/app?password=secret"] {
      #expect(!JobStoreLocation(password).name.contains("secret"))
    }
    #expect(JobStoreLocation("postgres://app:secret@db:5432/app").name == "postgres://app@db:5432/app")
    #expect(JobStoreLocation("postgres://app:secret@db:5432/app?sslmode=require").title == "app")
    let pairs = "host=db,other port=1 dbname=app user=me password=secret"
    #expect(JobStoreLocation(pairs).name == "postgres://me@db:1,other:1/app")
    #expect(JobStoreLocation("folder/jobs.sqlite").name == "folder/jobs.sqlite")
  }

  @Test(
    "J122: no output contains the password of a location, no matter how it is written",
    arguments: [
      "host=127.0.0.1 port=1 dbname=shop user=app password=s3cret", "password = 's3 s3cret' host=127.0.0.1 port=1",
      "POSTGRES://app:s3cret@127.0.0.1:1/shop", "postgres://app:pa@s3cret@127.0.0.1/shop",
      "postgres://app:s3cret/x@127.0.0.1/shop", "postgresql://127.0.0.1:1/shop?password=s3cret",
      "mysql://app:s3cret@127.0.0.1/shop", "password=s3cret =",
    ])
  func passwords(location: String) async throws {
    let folder = try TemporaryFolder()
    for command in [["jobs", "status"], ["jobs", "migrate"], ["jobs", "check"], ["jobs", "doctor"], ["dashboard"]] {
      let run = try await Tool.run(command + ["--store", location], in: folder)
      #expect(run.status != 0)
      #expect(!"\(run)".contains("s3cret"), "\(run)")
    }
  }
}
#endif
