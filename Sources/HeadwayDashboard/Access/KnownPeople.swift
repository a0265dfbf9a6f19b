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
  private let waitingCount = Mutex(0)

  /// The maximum number of passwords that wait to be hashed.
  private static let maxWaitingCount = 20

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
  /// - Returns: The rights of the person.
  /// - Throws: A ``Refusal`` if too many passwords wait to be checked.
  func access(name: String?, password given: String) async throws -> JobsDashboard.Access? {
    guard let name else {
      guard let password, Secret.areEqual(password, given) else { return nil }
      return unnamed
    }
    let user = users[name]
    guard let hash = user?.password ?? unmatched else { return nil }
    return try await isMatch(hash, given) ? user?.access : nil
  }

  private func isMatch(_ hash: PasswordHash, _ given: String) async throws -> Bool {
    let isAccepted = waitingCount.withLock { count in
      guard count < Self.maxWaitingCount else { return false }
      count += 1
      return true
    }
    guard isAccepted else { throw Refusal.tooManyGuesses }
    defer { waitingCount.withLock { $0 -= 1 } }
    return try await queue.addTask("password") { hash.matches(given) }.value
  }
}
#endif
