#if Jobs
import ArgumentParser
import HeadwayJobs
#if PostgreSQL
import HeadwayJobsPostgreSQL
#endif

struct JobsGrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Grant a PostgreSQL role the privilege to read, add, or run jobs.",
    discussion: """
      PRIVILEGES:
        read     read everything, for dashboards and monitoring
        enqueue  add jobs, but neither read nor change the jobs of other programs
        work     everything except changing the tables, for workers

      If there is no such role, it is created without the right to log in. Make the users of your programs members of \
      this role. Run the command again after `headway jobs migrate`.
      """)

  @Argument(help: "The privilege: read, enqueue, or work.") var privilege: Privilege
  @Argument(help: "The name of the role.") var role: String
  @OptionGroup var options: JobStoreOptions

  enum Privilege: String, CaseIterable, ExpressibleByArgument {
    case read, enqueue, work
  }

  func run() async throws {
    let location = options.location
    try await options.withStore { opened, _ in
      #if PostgreSQL
      if let server = opened as? PostgresJobStore, let known = PostgresJobStore.Privilege(rawValue: privilege.rawValue)
      {
        return try await server.grant(known, to: role)
      }
      #endif
      throw RolesMissing(store: location.name)
    }
    options.show(
      JobsJSON.Granted(
        store: location.place, schema: location.schema, role: role, privilege: privilege.rawValue),
      ["\(location.name): \(role) has the privilege \(privilege.rawValue)."])
  }
}

/// A store in a file has no roles.
struct RolesMissing: Error, CustomStringConvertible {
  let store: String

  var description: String { "\(store): Only a PostgreSQL server has roles. Use the permissions of the file." }
}
#endif
