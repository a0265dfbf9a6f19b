#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsMigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Create or update the tables of a store.",
    discussion: """
      Programs create and update the tables when they open a store. Run this command if they open a PostgreSQL store \
      with `migration: .manual`, for example because they may not change tables.
      """)

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    let location = options.location
    try await options.withStore(updatingTables: true) { store, _ in
      let (before, after) = store.schemaVersions
      let result =
        switch before {
        case 0: "The tables of version \(after) were created."
        case ..<after: "The tables were updated from version \(before) to version \(after)."
        default: "The tables have version \(after), and are up to date."
        }
      options.show(
        JobsJSON.Migrated(
          store: location.place, schema: location.schema, version: after, previousVersion: before == 0 ? nil : before),
        ["\(location.name): \(result)"])
    }
  }
}
#endif
