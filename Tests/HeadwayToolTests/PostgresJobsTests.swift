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
  @Test("J106, J109, J123, J149: the tool creates tables, shows, cancels, and checks jobs, and grants privileges")
  func commands() async throws {
    let folder = try TemporaryFolder()
    let server = try PostgresServer()
    func run(_ arguments: String...) async throws -> Tool.Run {
      try await Tool.run(["jobs"] + arguments + ["--store", server.url], in: folder)
    }
    let before = try await run("list")
    #expect(before.status == 65 && before.errors.joined().contains("headway jobs migrate"), "\(before)")
    let place = "postgres://postgres@/postgres?host=\(server.folder)"
    #expect(try await run("migrate").output == ["\(place): The tables of version 1 were created."])

    let store = try await PostgresJobStore(server.url, migration: .manual)
    let new = NewJob(kind: "resize", payload: JobPayload(bytes: Array("{}".utf8)))
    let id = try await store.enqueue([new])[0].id
    #expect(try await run("list").output.count == 2)
    #expect(try await run("cancel", "\(id)").status == 0)
    #expect(try await Jobs(store).job(id)?.state == .cancelled)
    let check = try await run("check")
    #expect(check.status == 0 && check.output == ["\(place): 0 defects."], "\(check)")
    let doctor = try await run("doctor")
    let names = doctor.output.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
    #expect(
      names.suffix(8) == [
        "Version", "Durability", "Connections", "Transactions", "Vacuum", "Privileges", "Notifications", "Commit",
      ], "\(doctor)")
    // The server of the tests runs with fsync = off.
    #expect(doctor.status == 1 && doctor.output.contains { $0.contains("fsync = off") }, "\(doctor)")
    let grant = try await run("grant", "read", "auditors")
    #expect(grant.output == ["\(place): auditors has the privilege read."], "\(grant)")
    let again = try await run("grant", "work", "auditors", "--json")
    #expect(again.output.joined().contains("\"privilege\":\"work\""), "\(again)")
    await store.close()
  }

  @Test("J271: --schema selects the tables, and migrate prints their location and what has changed")
  func schemas() async throws {
    let folder = try TemporaryFolder()
    let server = try PostgresServer.shared()
    func run(_ arguments: String...) async throws -> Tool.Run {
      try await Tool.run(["jobs"] + arguments + ["--store", server.url, "--schema", "tool_jobs"], in: folder)
    }
    let before = try await run("list")
    #expect(before.status == 65 && before.errors.joined().contains("`headway jobs migrate --schema tool_jobs`"))
    let place = "postgres://postgres@/postgres?host=\(server.folder)"
    #expect(
      try await run("migrate").output == ["\(place), schema tool_jobs: The tables of version 1 were created."])
    #expect(
      try await run("migrate").output
        == ["\(place), schema tool_jobs: The tables have version 1, and are up to date."])
    let object = try #require(try await run("migrate", "--json").objects().first)
    #expect(object["store"] as? String == place && object["schema"] as? String == "tool_jobs")
    #expect(object["version"] as? Int == 1 && object["previousVersion"] as? Int == 1)

    let store = try await PostgresJobStore(server.url, schema: "tool_jobs", migration: .manual)
    let new = NewJob(kind: "resize", payload: JobPayload(bytes: Array("{}".utf8)))
    let id = try await store.enqueue([new])[0].id
    #expect(try await run("cancel", "\(id)").output == ["1 job cancelled."])
    #expect(try await Jobs(store).job(id)?.state == .cancelled)
    #expect(try await run("check").output == ["\(place), schema tool_jobs: 0 defects."])
    let grant = try await run("grant", "read", "tool_auditors")
    #expect(grant.output == ["\(place), schema tool_jobs: tool_auditors has the privilege read."], "\(grant)")
    #expect(try await run("doctor", "--json").objects().first?["findings"] != nil)
    await store.close()
  }

  @Test("J271: an invalid schema name, or a schema for a file, is a usage error")
  func wrongSchemas() async throws {
    let folder = try TemporaryFolder()
    await (try SQLiteJobStore(path: "\(folder.path)/jobs.sqlite")).close()
    let cases = [
      ("postgres:///app", "Jobs", "--schema: Jobs can't be the name of a schema"),
      ("jobs.sqlite", "jobs", "--schema: only a PostgreSQL database has schemas"),
    ]
    for (store, schema, text) in cases {
      for command in [["jobs", "list"], ["dashboard"]] {
        let run = try await Tool.run(command + ["--store", store, "--schema", schema], in: folder)
        #expect(run.status == 64 && run.errors.first?.contains(text) == true, "\(run)")
      }
    }
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
    let socket = JobStoreLocation("host=/run/a@b port=5433 dbname=app user=me", schema: "night")
    #expect(socket.place == "postgres://me@/app?host=/run/a%40b&port=5433")
    #expect(socket.name == "\(socket.place), schema night" && socket.title == "app, schema night")
    #expect(JobStoreLocation(socket.place).place == socket.place)
  }

  @Test("J281: the address of a store is a URL, even if its names contain special characters") func specialNames() {
    let place = JobStoreLocation("host=db user='a@b/c' dbname='my db?x' password=secret").place
    #expect(place == "postgres://a%40b%2Fc@db/my%20db%3Fx")
    #expect(JobStoreLocation(place).place == place)
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
