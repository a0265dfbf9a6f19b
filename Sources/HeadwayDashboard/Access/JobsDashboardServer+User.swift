#if Dashboard
extension JobsDashboardServer {
  /// A person who can log in to a server with a name and a password.
  ///
  /// The list of people is usually a file, which contains only hashes of the passwords:
  ///
  /// ```swift
  /// import Foundation
  /// import HeadwayDashboard
  ///
  /// var options = JobsDashboardServer.Options()
  /// options.users = try JobsDashboardServer.User.users(in: String(contentsOfFile: "users.txt", encoding: .utf8))
  /// ```
  public struct User: Hashable, Sendable {
    /// The name, which pages show and the store records with each change.
    public let name: String
    /// What the person may do.
    public let role: JobsDashboard.Access.Role
    let password: PasswordHash

    /// The maximum length of a name, in bytes of UTF-8.
    private static let maxNameLength = 100

    /// Creates a person with a new password.
    ///
    /// Hashing the password takes part of a second.
    ///
    /// - Parameters:
    ///   - name: The name: at most 100 bytes of UTF-8, without colons and control characters, and without spaces at its
    ///     ends.
    ///   - role: What the person may do.
    ///   - password: The password, which must have at least ``Options/minPasswordLength`` characters.
    /// - Throws: ``JobsDashboardError`` with the code ``JobsDashboardError/Code/invalidUser`` or
    ///   ``JobsDashboardError/Code/shortPassword``.
    public init(name: String, role: JobsDashboard.Access.Role, password: String) throws {
      guard password.count >= Options.minPasswordLength else { throw JobsDashboardError.shortPassword }
      try self.init(name: name, role: role, PasswordHash(of: password))
    }

    init(name: String, role: JobsDashboard.Access.Role, _ password: PasswordHash) throws {
      guard Self.isValid(name) else {
        throw JobsDashboardError(
          .invalidUser,
          "“\(name)” can't be the name of a person. Use up to \(Self.maxNameLength) bytes, without colons and control "
            + "characters, and without spaces at the ends.")
      }
      (self.name, self.role, self.password) = (name, role, password)
    }

    /// The line of the person in a list: the name, the role, and the hash of the password, separated by colons.
    public var line: String { "\(name):\(role.rawValue):\(password.text)" }

    /// Reads a list of people.
    ///
    /// - Parameter text: The text of the list. Each line is the ``line`` of a person. Empty lines and lines that begin
    ///   with `#` are ignored.
    /// - Returns: The people, in the same order.
    /// - Throws: ``JobsDashboardError`` with the code ``JobsDashboardError/Code/invalidUser``. The description contains
    ///   the number of the line.
    public static func users(in text: String) throws -> [User] {
      var users: [User] = []
      for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
        guard line.contains(where: { !$0.isWhitespace }), line.first != "#" else { continue }
        let user = try self.user(line, number: index + 1)
        guard !users.contains(where: { $0.name == user.name }) else {
          throw invalid("the name \(user.name) occurs twice.", line: index + 1)
        }
        users.append(user)
      }
      return users
    }

    private static func user(_ line: Substring, number: Int) throws -> User {
      let parts = line.split(separator: ":", omittingEmptySubsequences: false)
      // The message does not contain the line, because it might contain a password.
      guard parts.count == 3 else { throw invalid("use name:role:hash.", line: number) }
      guard let role = JobsDashboard.Access.Role(rawValue: String(parts[1])) else {
        throw invalid("the role “\(parts[1])” is unknown. Use look or operate.", line: number)
      }
      guard let hash = PasswordHash(parts[2]) else {
        throw invalid("the hash is not valid. Create the line with “headway dashboard-user”.", line: number)
      }
      do {
        return try User(name: String(parts[0]), role: role, hash)
      } catch let error as JobsDashboardError {
        throw invalid(error.description, line: number)
      }
    }

    private static func invalid(_ text: String, line: Int) -> JobsDashboardError {
      JobsDashboardError(.invalidUser, "Line \(line) of the list of people: \(text)")
    }

    private static func isValid(_ name: String) -> Bool {
      guard let first = name.first, let last = name.last, name.utf8.count <= maxNameLength else { return false }
      return !first.isWhitespace && !last.isWhitespace
        && !name.unicodeScalars.contains { $0 == ":" || $0.properties.generalCategory == .control }
    }

    /// The rights of the person, who has logged in with the form.
    var access: JobsDashboard.Access {
      var access = JobsDashboard.Access(role: role, name: name)
      access.logOut = .form
      return access
    }
  }
}
#endif
