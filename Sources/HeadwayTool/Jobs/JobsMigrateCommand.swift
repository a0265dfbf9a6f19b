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
    try await options.withStore(updatingTables: true) { _, _ in
      options.show(JobsJSON.Migrated(store: options.location.name), ["\(options.location.name): up to date."])
    }
  }
}
#endif
