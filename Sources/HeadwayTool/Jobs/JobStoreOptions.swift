#if Jobs
import ArgumentParser
import HeadwayJobs

/// The options for the location of a store.
struct JobPlaceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The database file with the jobs, or the URL of a PostgreSQL database.", valueName: "path-or-url"),
    completion: .file())
  var store: String

  @Option(
    help: ArgumentHelp(
      "The schema of the tables in a PostgreSQL database. The default is headway.", valueName: "name"))
  var schema: String?

  func validate() throws { try location.validate() }

  var location: JobStoreLocation { JobStoreLocation(store, schema: schema) }

  /// Opens the store, runs a function, and closes the store.
  ///
  /// The store records the changes of the function under the name of the system's user.
  ///
  /// - Parameters:
  ///   - updatesTables: Whether to create and update the tables of a server.
  ///   - body: A function that uses the store.
  /// - Throws: `ExitCode`, after reporting the error.
  func withStore(
    updatingTables updatesTables: Bool = false, _ body: (any ToolJobStore, Jobs) async throws -> Void
  ) async throws {
    do {
      let opened = try await location.open(updatingTables: updatesTables)
      let result = await Result { try await body(opened, Jobs(opened).changing(as: SystemUser.name)) }
      await opened.close()
      try result.get()
    } catch let exit as ExitCode {
      throw exit
    } catch {
      throw ToolExit.report(error)
    }
  }
}

/// The options that all commands for jobs have.
struct JobStoreOptions: ParsableArguments {
  @OptionGroup private var place: JobPlaceOptions

  @Flag(help: "Print JSON objects, one per line. See Docs/tool-json.md.")
  var json = false

  var location: JobStoreLocation { place.location }

  /// Opens the store, runs a function, and closes the store.
  ///
  /// - Parameters:
  ///   - updatesTables: Whether to create and update the tables of a server.
  ///   - body: A function that uses the store.
  /// - Throws: `ExitCode`, after reporting the error.
  func withStore(
    updatingTables updatesTables: Bool = false, _ body: (any ToolJobStore, Jobs) async throws -> Void
  ) async throws {
    try await place.withStore(updatingTables: updatesTables, body)
  }

  /// Prints a value as JSON, or lines of text.
  func show(_ value: some Encodable, _ lines: @autoclosure () -> [String]) {
    if json {
      StandardStream.output.writeLine(JSONEvent.line(value))
    } else {
      for line in lines() { StandardStream.output.writeLine(line) }
    }
  }
}

extension Result where Failure == any Error {
  /// Calls a function and stores its result or its error.
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// A job that the user has specified does not exist.
struct MissingJob: Error, CustomStringConvertible {
  let id: JobID

  var description: String { "The store has no job \(id): it was deleted or never existed." }
}

extension ToolExit {
  /// The exit code for an error of a store; nil for other errors.
  init?(jobError error: any Error) {
    switch error {
    case is MissingStore: self = .noInput
    case is UnsupportedStore, is RolesMissing, is UnsuitableValue: self = .usage
    case is NotAStore, is UnusableDatabase, is MissingJob, is MissingErrorGroup: self = .dataError
    case let error as JobError:
      switch error.code {
      case .unusableStore: self = ToolExit(databaseError: error.underlyingError) ?? .cannotCreate
      case .storeFull, .storeFailed: self = ToolExit(databaseError: error.underlyingError) ?? .inputOutput
      default: self = .dataError
      }
    default: return nil
    }
  }
}
#endif
