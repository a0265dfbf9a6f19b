#if Dashboard
import HeadwayWeb

/// The browsers that have logged in.
struct LoginSessions {
  private struct Session {
    let token: String
    let access: JobsDashboard.Access
  }

  /// The sessions, oldest first.
  private var sessions: [Session] = []

  /// The maximum number of sessions of a person.
  ///
  /// The limit is for each person, because one person must not log out another, who might not be able to log in again:
  /// the printed address works only once.
  static let maxCount = 100

  /// Adds a session, which ends the oldest one of the same person if there are too many.
  ///
  /// - Parameter access: The rights of the person.
  /// - Returns: The token of the session, which only the browser receives.
  mutating func open(_ access: JobsDashboard.Access) -> String {
    let own = sessions.indices.filter { sessions[$0].access == access }
    if own.count >= Self.maxCount { sessions.remove(at: own[0]) }
    let token = Secret.make()
    sessions.append(Session(token: token, access: access))
    return token
  }

  /// Returns the rights of a person; nil if there is no session with this token.
  func access(_ token: String) -> JobsDashboard.Access? {
    sessions.first { Secret.areEqual($0.token, token) }?.access
  }

  /// Ends a session.
  mutating func close(_ token: String) { sessions.removeAll { Secret.areEqual($0.token, token) } }
}
#endif
