#if Dashboard
import Headway
import HeadwayWeb
import Synchronization

/// The people who can log in with a form: with a name and a password, or with the password of the server.
final class KnownPeople: Sendable {
  private let password: String?
  private let users: [String: JobsDashboardServer.User]
  /// The rights of people who log in without a name.
  let unnamed: JobsDashboard.Access
  /// A hash that is checked for an unknown name, so that the time does not show which names exist.
  private let unmatched: PasswordHash?
  /// Hashes one password at a time, because that uses a processor for part of a second.
  private let queue = Headway.OperationQueue(name: "dashboard passwords", maxConcurrentOperationCount: 1)
  private let waiting = Mutex(WaitingPasswords())

  init(_ options: JobsDashboardServer.Options) {
    password = options.password
    users = Dictionary(options.users.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var access = JobsDashboard.Access.changes(as: options.owner)
    // The printed address works only once, so a person without a password could not log in again.
    if options.password != nil || !options.users.isEmpty { access.logOut = .form }
    unnamed = access
    unmatched = options.users.first.map { PasswordHash(unmatchedLike: $0.password) }
  }

  var acceptPasswords: Bool { password != nil || acceptNames }
  var acceptNames: Bool { !users.isEmpty }
  var needNames: Bool { acceptNames && password == nil }

  /// Returns the rights of a person; nil if the password is wrong.
  ///
  /// - Parameters:
  ///   - name: The name of the person; nil for the password of the server.
  ///   - given: The password that the person has typed.
  ///   - client: The network of the person.
  /// - Returns: The rights of the person.
  /// - Throws: A ``Refusal`` if too many passwords wait to be checked.
  func access(name: String?, password given: String, from client: String) async throws -> JobsDashboard.Access? {
    guard let name else {
      guard let password, Secret.areEqual(password, given) else { return nil }
      return unnamed
    }
    let user = users[name]
    guard let hash = user?.password ?? unmatched else { return nil }
    return try await isMatch(hash, given, from: client) ? user?.access : nil
  }

  private func isMatch(_ hash: PasswordHash, _ given: String, from client: String) async throws -> Bool {
    guard waiting.withLock({ $0.add(from: client) }) else { throw Refusal.tooManyGuesses }
    defer { waiting.withLock { $0.remove(from: client) } }
    return try await queue.addTask("password") { hash.matches(given) }.value
  }
}

/// The numbers of passwords that wait to be hashed, by client.
///
/// A client can have at most as many passwords as there are free places, so it can't use up all of them. If several
/// clients guess all the time, each has an equal part of the places, and one part remains free.
struct WaitingPasswords {
  private var counts: [String: Int] = [:]

  /// The maximum number of passwords of all clients.
  static let maxCount = 20

  /// Adds a password of a client and returns whether there was a place for it.
  mutating func add(from client: String) -> Bool {
    let own = counts[client] ?? 0
    guard own < Self.maxCount - counts.values.reduce(0, +) else { return false }
    counts[client] = own + 1
    return true
  }

  /// Removes a password of a client, which has been hashed.
  mutating func remove(from client: String) {
    let rest = (counts[client] ?? 0) - 1
    counts[client] = rest > 0 ? rest : nil
  }
}
#endif
