#if Dashboard
extension JobsDashboard {
  /// The rights of a person, and the name of the person.
  ///
  /// ```swift
  /// import HeadwayDashboard
  ///
  /// let access = JobsDashboard.Access.changes(as: "anna")
  /// ```
  ///
  /// The pages show the name, and the store records changes under it: see `Jobs.changing(as:)` in `HeadwayJobs`.
  /// Changes of a person without a name are recorded under ``unnamed``.
  public struct Access: Hashable, Sendable {
    /// What a person may do.
    public enum Role: String, CaseIterable, Hashable, Sendable {
      /// See all pages.
      case look
      /// See all pages, and change jobs, queues and schedules.
      case operate
    }

    /// What the person may do; nil if requests are rejected.
    public var role: Role?
    /// The name of the person; nil if it is not known.
    public var name: String?
    /// How the person can log out; nil if the dashboard does not know how.
    var logOut: LogOut?

    enum LogOut: Hashable, Sendable {
      /// A form of the dashboard ends the session.
      case form
      /// A proxy has signed in the person, and signs out people at this address.
      case address(String)
    }

    /// Creates rights.
    ///
    /// - Parameters:
    ///   - role: What the person may do; nil for nothing.
    ///   - name: The name of the person. An empty name is no name.
    public init(role: Role?, name: String? = nil) {
      (self.role, self.name) = (role, name?.isEmpty == false ? name : nil)
    }

    /// The author of the changes of people without a name.
    public static let unnamed = "dashboard"

    /// Nothing: requests are rejected.
    public static let none = Access(role: nil)
    /// See all pages.
    public static let reading = Access(role: .look)
    /// See all pages, and change jobs, queues and schedules.
    public static let changes = Access(role: .operate)

    /// See all pages.
    ///
    /// - Parameter name: The name of the person, which the pages show.
    /// - Returns: The rights of the person.
    public static func reading(as name: String) -> Access { Access(role: .look, name: name) }

    /// See all pages, and change jobs, queues and schedules.
    ///
    /// - Parameter name: The name of the person, which the pages show and the store records with each change.
    /// - Returns: The rights of the person.
    public static func changes(as name: String) -> Access { Access(role: .operate, name: name) }
  }
}
#endif
