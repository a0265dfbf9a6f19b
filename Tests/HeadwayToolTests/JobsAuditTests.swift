#if Jobs
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

@testable import HeadwayTool

/// The record of the changes that people make with the tool.
@Suite("headway jobs audit", .hangLimit)
struct JobsAuditTests {
  private let folder: TemporaryFolder
  private let store: SQLiteJobStore
  private let jobs: Jobs

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    jobs = Jobs(store)
  }

  /// Runs a command on the store and expects that it succeeds.
  private func run(_ arguments: String...) async throws -> Tool.Run {
    let run = try await Tool.run(["jobs"] + arguments + ["--store", "jobs.sqlite"], in: folder)
    #expect(run.status == 0 && run.errors.isEmpty, "\(arguments): \(run.errors)")
    return run
  }

  private func enqueue() async throws -> JobID {
    try await store.enqueue([NewJob(kind: "mail", payload: JobPayload(bytes: Array("{}".utf8)), options: [])])[0].id
  }

  @Test("J347: commands record the user of the system, and audit lists the changes") func audit() async throws {
    #expect(try await run("audit").output == ["No changes."])
    let id = try await enqueue()
    _ = try await run("edit", "\(id)", "--priority", "high")
    _ = try await run("cancel", "--kind", "mail")
    _ = try await run("queues", "pause", "mail")
    let changes = try await jobs.changes()
    #expect(Set(changes.map(\.author)) == [SystemUser.name])
    #expect(changes.map(\.action) == [.pauseQueue, .cancel, .change])
    let lines = try await run("audit").output
    #expect(
      lines == [
        "3  \(changes[0].time)  \(SystemUser.name) paused the queue mail", "    paused: no -> yes",
        "2  \(changes[1].time)  \(SystemUser.name) cancelled 1 job: kind mail", "    state: waiting -> cancelled",
        "1  \(changes[2].time)  \(SystemUser.name) changed job \(id)", "    priority: normal -> high",
      ])
    let first = try await run("audit", "--limit", "1").output
    #expect(first.first == lines[0] && first.last == "There are more changes: use --before 3.")
    #expect(try await run("audit", "--before", "2").output == Array(lines.suffix(2)))
    #expect(try await run("audit", "--job", "\(id)").output == Array(lines.suffix(2)))
    #expect(try await run("audit", "--job", "999").output == ["No changes."])
  }

  @Test("J347: --json prints one change per line, with the selection and the values") func objects() async throws {
    let id = try await enqueue()
    _ = try await jobs.changing(as: "anna").change(JobFilter(states: [.waiting], kinds: ["mail"]), .queue("other"))
    _ = try await run("queues", "set", "mail", "--max-running", "8")
    let objects = try await run("audit", "--json").objects()
    #expect(objects.map { $0["number"] as? Int } == [2, 1])
    #expect(objects.map { $0["action"] as? String } == ["configure-queue", "change"])
    #expect(objects[0]["queue"] as? String == "mail" && objects[1]["queue"] == nil)
    let change = objects[1]
    #expect(change["author"] as? String == "anna" && change["count"] as? Int == 1)
    #expect(change["text"] as? String == "changed 1 job: state waiting, kind mail")
    #expect(change["jobs"] as? [Int] == [Int(id.rawValue)])
    let selection = try #require(change["selection"] as? [String: Any])
    #expect(selection["states"] as? [String] == ["waiting"] && selection["kinds"] as? [String] == ["mail"])
    #expect(selection.count == 2)
    let value = try #require((change["values"] as? [[String: Any]])?.first)
    #expect(value["name"] as? String == "queue" && value["before"] as? [String] == ["default"])
    #expect(value["after"] as? [String] == ["other"])
  }

  @Test("J347: a limit of 0 is a usage error") func limit() async throws {
    let run = try await Tool.run("jobs", "audit", "--limit", "0", "--store", "jobs.sqlite", in: folder)
    #expect(run.status == 64 && run.errors.first?.contains("--limit 0: use 1 or more.") == true)
  }

  @Test("J347: with sudo, the author is the person, and the user whose rights the person uses")
  func sudo() {
    func name(_ environment: [String: String]) -> String {
      SystemUser.name(user: "app", machine: "db1", environment: environment)
    }
    #expect(name([:]) == "app@db1" && name(["SUDO_USER": ""]) == "app@db1" && name(["SUDO_USER": "app"]) == "app@db1")
    #expect(name(["SUDO_USER": "anna"]) == "anna as app@db1")
    #expect(SystemUser.name.contains("@") && !SystemUser.name.hasSuffix("@"))
  }

  #if Dashboard
  @Test("J347: dashboard-user prints a line with a hash of the password, which the dashboard accepts")
  func user() async throws {
    func run(_ password: String, _ arguments: String...) async throws -> Tool.Run {
      let script = "printf '%s\\n' '\(password)' | \"$0\" \"$@\""
      return try await Tool(["dashboard-user"] + arguments, in: folder, launcher: ["/bin/sh", "-c", script]).finish()
    }
    let line = try #require(try await run("correct horse battery", "anna", "--role", "operate").output.first)
    #expect(line.hasPrefix("anna:operate:pbkdf2-sha256$600000$") && !line.contains("horse"))
    #expect(try await run("correct horse battery", "bob").output.first?.hasPrefix("bob:look:") == true)
    let short = try await run("short", "anna")
    #expect(short.status == 64 && short.output.isEmpty && short.errors.first?.contains("12 or more") == true)
    #expect(try await run("correct horse battery", "an:na").status == 64)
  }

  @Test("J345: the command exits with 66 if it can't read the file of people, and with 65 if the file is invalid")
  func people() async throws {
    let arguments = ["dashboard", "--store", "jobs.sqlite", "--port", "0", "--users", "users.txt"]
    let missing = try await Tool.run(arguments, in: folder)
    #expect(missing.status == 66 && missing.errors.first?.contains("users.txt: The file with the people") == true)
    try folder.write("anna:operate\n", to: "users.txt")
    let invalid = try await Tool.run(arguments, in: folder)
    #expect(invalid.status == 65)
    #expect(invalid.errors.first?.contains("users.txt: Line 1 of the list of people: use name:role:hash.") == true)
  }

  @Test(
    "J346: options of a proxy that contradict each other are usage errors",
    arguments: [
      ["--user-header", "Remote-User"], ["--trust-proxy", "127.0.0.1", "--operator", "ops"],
      ["--trust-proxy", "127.0.0.1", "--role-header", "Groups", "--proxy-role", "look"],
      ["--trust-proxy", "127.0.0.1", "--logout-url", "javascript:alert(1)"], ["--trust-proxy", "0.0.0.0/0"],
      ["--trust-proxy", "localhost"],
    ])
  func proxy(options: [String]) async throws {
    let run = try await Tool.run(["dashboard", "--store", "jobs.sqlite", "--port", "0"] + options, in: folder)
    #expect(run.status == 64 && run.errors.count == 1, "\(run.errors)")
  }
  #endif
}
#endif
