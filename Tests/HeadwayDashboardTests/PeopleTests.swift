#if Dashboard
import AsyncHTTPClient
import HeadwayJobs
import HeadwayTestSupport
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("People who log in to the dashboard", .hangLimit) struct PeopleTests {
  private static let password = "correct horse battery"

  /// Options with two people: `anna`, who may change jobs, and `bob`, who may look.
  private static func server() throws -> JobsDashboardServer.Options {
    var server = JobsDashboardServer.Options()
    // Two iterations, because tests need not resist guessing.
    let hash = PasswordHash(of: password, iterationCount: 2)
    server.users = [
      try JobsDashboardServer.User(name: "anna", role: .operate, hash),
      try JobsDashboardServer.User(name: "bob", role: .look, hash),
    ]
    return server
  }

  @Test("J345: a person logs in with a name and a password, and changes are recorded under the name")
  func login() async throws {
    try await RunningDashboard.with(server: try Self.server(), logsIn: false) { dashboard in
      expect(try await dashboard.get("/").text.contains("name=\"name\""), is: true)
      let answer = try await dashboard.post(["name": "anna", "password": Self.password], path: "/login")
      expect(answer.status, is: .seeOther)
      let page = try await dashboard.page("/queues")
      #expect(page.contains(">anna</span>") && page.contains("action=\"./logout\""))
      _ = try await dashboard.change(["action": "pause", "queue": "mail"])
      let changes = try await dashboard.jobs.changes()
      #expect(changes.map(\.author) == ["anna"] && changes.map(\.subject) == [.queue("mail")])
      let list = try await dashboard.page("/changes")
      #expect(list.contains("<strong>anna</strong>") && list.contains("Paused the queue mail."))
    }
  }

  @Test("J345: a person with the role “look” sees all pages and can't change anything")
  func look() async throws {
    try await RunningDashboard.with(server: try Self.server(), logsIn: false) { dashboard in
      let id = try await Scene(dashboard.jobs).fail()
      _ = try await dashboard.post(["name": "bob", "password": Self.password], path: "/login")
      let page = try await dashboard.page("/job/\(id)")
      #expect(page.contains(">bob</span>") && page.contains("read only") && !page.contains(">Retry</button>"))
      expect(try await dashboard.post(["action": "retry", "id": "\(id)"]).status, is: .forbidden)
      expect(try await dashboard.get("/confirm?action=retry&state=failed").status, is: .forbidden)
      let changes = try await dashboard.jobs.changes()
      #expect(changes.isEmpty)
    }
  }

  @Test("J345: a wrong password and an unknown name get the same response")
  func wrong() async throws {
    try await RunningDashboard.with(server: try Self.server(), logsIn: false) { dashboard in
      var texts: Set<String> = []
      for (name, password) in [("anna", "wrong"), ("nobody", Self.password), ("", Self.password), ("Anna", "")] {
        let answer = try await dashboard.post(["name": name, "password": password], path: "/login")
        expect(answer.status, is: .forbidden)
        texts.insert(answer.text)
      }
      #expect(texts.count == 1)
      expect(try await dashboard.get("/").status, is: .forbidden)
    }
  }

  @Test("J345: logging out ends the session, even if the browser keeps its cookie")
  func logout() async throws {
    try await RunningDashboard.with(server: try Self.server(), logsIn: false) { dashboard in
      _ = try await dashboard.post(["name": "anna", "password": Self.password], path: "/login")
      var other = dashboard
      other.cookies = [:]
      _ = try await other.post(["name": "anna", "password": Self.password], path: "/login")
      let foreign: HTTPHeaders = [
        "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://example.org",
      ]
      expect(try await dashboard.post([:], headers: foreign, path: "/logout").status, is: .forbidden)
      expect(try await dashboard.get("/").status, is: .ok)
      let answer = try await dashboard.post([:], path: "/logout")
      expect(answer.status, is: .seeOther)
      #expect(answer.headers.first(name: "Set-Cookie")?.hasSuffix("; Max-Age=0") == true)
      expect(try await dashboard.get("/").status, is: .forbidden)
      expect(try await other.get("/").status, is: .ok)
    }
  }

  @Test("J345: the printed address still works once, and its changes are recorded under the owner")
  func owner() async throws {
    var server = JobsDashboardServer.Options()
    server.owner = "carl@db1"
    try await RunningDashboard.with(server: server) { dashboard in
      let page = try await dashboard.page("/")
      // Without a password, the person could not log in again.
      #expect(page.contains(">carl@db1</span>") && !page.contains("Log out"))
      _ = try await dashboard.change(["action": "pause", "queue": "mail"])
      let author = try await dashboard.jobs.changes().first?.author
      #expect(author == "carl@db1")
    }
  }

  @Test("J345: an address that other machines can reach needs no password if people are configured")
  func address() throws {
    var server = try Self.server()
    server.listen = "0.0.0.0"
    _ = try JobsDashboardServer(JobsDashboard(Jobs(MemoryJobStore())), options: server)
  }

  @Test("J345: password guesses for one name are limited, but one address can't use up all of them")
  func guesses() {
    var limit = GuessLimit()
    let now = ContinuousClock.now
    for index in 0..<10 {
      #expect(limit.turn(of: "\(index)", name: "anna", at: now) == now + GuessLimit.pauseOfName * index)
    }
    #expect(limit.turn(of: "other", name: "bob", at: now) == now)
    let waiting = Int(GuessLimit.maxWait / GuessLimit.pause) + 1
    var flood = GuessLimit()
    for _ in 0..<waiting { #expect(flood.turn(of: "a", name: "anna", at: now) != nil) }
    #expect(flood.turn(of: "a", name: "anna", at: now) == nil)
    // Another address waits only for the shorter pauses of the name, even while the first one continues.
    var person = flood
    #expect(person.turn(of: "b", name: "anna", at: now) == now + GuessLimit.pauseOfName * waiting)
    for index in 0..<100 {
      let time = now + GuessLimit.pause * index
      _ = flood.turn(of: "a", name: "anna", at: time)
      let turn = flood.turn(of: "b\(index)", name: "anna", at: time)
      #expect(turn.map { $0 - time < .seconds(2) } == true)
    }
    let later = now + GuessLimit.pause * 100 + GuessLimit.maxWait + GuessLimit.pause
    #expect(flood.turn(of: "b", name: "anna", at: later) == later)
  }

  @Test("J345: a client that guesses leaves places for passwords of other clients")
  func waitingPasswords() {
    var waiting = WaitingPasswords()
    var queue: [String] = []
    func flood(_ client: String) { while waiting.add(from: client) { queue.append(client) } }
    flood("a")
    #expect(queue.count == WaitingPasswords.maxCount / 2)
    expect(waiting.add(from: "anna"), is: true)
    waiting.remove(from: "anna")
    let others = (0..<8).map { "other \($0)" }
    for client in others { flood(client) }
    for _ in 0..<(2 * WaitingPasswords.maxCount) {
      waiting.remove(from: queue.removeFirst())
      for client in others + ["a"] { flood(client) }
    }
    expect(waiting.add(from: "anna"), is: true)
  }

  @Test("J345: new sessions of a person never end the sessions of another person")
  func sessions() {
    var sessions = LoginSessions()
    let (owner, bob) = (JobsDashboard.Access.changes(as: "carl@db1"), JobsDashboard.Access.reading(as: "bob"))
    let token = sessions.open(owner)
    let first = sessions.open(bob)
    for _ in 1..<LoginSessions.maxCount { _ = sessions.open(bob) }
    #expect(sessions.access(first) == bob)
    let last = sessions.open(bob)
    #expect(sessions.access(first) == nil && sessions.access(last) == bob && sessions.access(token) == owner)
    sessions.close(token)
    #expect(sessions.access(token) == nil && sessions.access("") == nil && sessions.access(last) == bob)
  }

  // MARK: Hashes

  @Test(
    "J345: the hash of a password is PBKDF2 with HMAC-SHA-256",
    arguments: [
      ("password", "salt", 1, "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b"),
      ("password", "salt", 2, "ae4d0c95af6b46d32d0adff928f06dd02a303f8ef3c251dfd6e2d85a95474c43"),
      ("passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
      (
        String(repeating: "x", count: 65), "salt", 3, "55f8286dda24a93939636b5584acff9694c9d2551e7f63ed334c389a68e5dd4f"
      ),
    ])
  func hash(password: String, salt: String, count: Int, expected: String) {
    let hash = PasswordHash(of: password, salt: Array(salt.utf8), iterationCount: count)
    #expect(hash.text == "pbkdf2-sha256$\(count)$73616c74$\(expected)")
    #expect(hash.matches(password) && !hash.matches(password + " ") && !hash.matches(""))
    #expect(!PasswordHash(unmatchedLike: hash).matches(password))
  }

  @Test("J345: hashes of the same password differ, and their text can be read again")
  func salt() throws {
    let (one, other) = (PasswordHash(of: "a", iterationCount: 2), PasswordHash(of: "a", iterationCount: 2))
    #expect(one != other && one.matches("a") && other.matches("a"))
    #expect(PasswordHash(one.text) == one)
    for text in ["", "pbkdf2-sha256$0$00$00", one.text + "0", one.text.replacing("sha256", with: "sha1"), "$$$"] {
      #expect(PasswordHash(text) == nil)
    }
  }

  // MARK: Lists

  @Test("J345: a list of people has one line per person")
  func list() throws {
    let anna = try JobsDashboardServer.User(
      name: "anna.möller@example.org", role: .operate, PasswordHash(of: "a", iterationCount: 2))
    let users = try JobsDashboardServer.User.users(in: "# people\n\n\(anna.line)\r\n  \n")
    #expect(users == [anna])
    #expect(try JobsDashboardServer.User.users(in: "").isEmpty)
  }

  @Test(
    "J345: an invalid list of people is rejected with the number of the line",
    arguments: [
      ("anna:operate", "Line 2 of the list of people: use name:role:hash."),
      ("anna:admin:HASH", "Line 2 of the list of people: the role “admin” is unknown. Use look or operate."),
      ("anna:look:secret", "Line 2 of the list of people: the hash is not valid."),
      (" anna:look:HASH", "Line 2 of the list of people: “ anna” can't be the name of a person."),
      (":look:HASH", "Line 2 of the list of people: “” can't be the name of a person."),
      ("bob:look:HASH", "Line 2 of the list of people: the name bob occurs twice."),
    ])
  func invalid(line: String, message: String) throws {
    let hash = PasswordHash(of: "a", iterationCount: 2).text
    let text = "bob:look:\(hash)\n" + line.replacing("HASH", with: hash)
    let error = #expect(throws: JobsDashboardError.self) { try JobsDashboardServer.User.users(in: text) }
    #expect(error?.code == .invalidUser)
    #expect(error?.description.hasPrefix(message) == true)
  }

  @Test("J345: a new password must not be short")
  func short() throws {
    let error = #expect(throws: JobsDashboardError.self) {
      try JobsDashboardServer.User(name: "anna", role: .look, password: "too short")
    }
    #expect(error?.code == .shortPassword)
  }
}
#endif
