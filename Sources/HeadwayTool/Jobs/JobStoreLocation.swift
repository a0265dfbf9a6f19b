#if Jobs
import ArgumentParser
import Foundation
import HeadwayJobs
import HeadwayJobsSQLite
#if PostgreSQL
import HeadwayJobsPostgreSQL
#endif

/// A store that the tool can open.
protocol ToolJobStore: JobStore {
  func audit() async throws -> [String]
  func close() async
  /// The versions of the tables before and after the store was opened; 0 if there were no tables.
  var schemaVersions: (before: Int64, after: Int64) { get }
}

extension SQLiteJobStore: ToolJobStore {}
#if PostgreSQL
extension PostgresJobStore: ToolJobStore {}
#endif

/// The location of a store: a file, or a schema in a database on a PostgreSQL server.
struct JobStoreLocation {
  private let text: String
  /// The schema; nil for the default.
  let schema: String?

  init(_ text: String, schema: String? = nil) { (self.text, self.schema) = (text, schema) }

  /// Whether this is the address or the connection string of a server.
  ///
  /// Any string that might contain a password is treated as an address, even if it is not valid, so that no message
  /// contains the password.
  private var isOnServer: Bool {
    if FileManager.default.fileExists(atPath: text) { return false }
    return text.contains("://") || text.contains(/(^|\s)(host|hostaddr|dbname|user|password|service|passfile)\s*=/)
  }

  /// The file or the database in the form that is printed, without a password.
  var place: String {
    guard isOnServer else { return text }
    #if PostgreSQL
    return PostgresJobStore.place(of: text) ?? Self.unreadable
    #else
    return Self.unreadable
    #endif
  }

  private static let unreadable = "the database"

  /// The location as it is shown, without a password.
  var name: String { place + suffix }

  /// The last part of the location.
  var title: String {
    guard isOnServer else { return URL(fileURLWithPath: text).lastPathComponent }
    let name = String(place.prefix { $0 != "?" }.split(separator: "/").last ?? "")
    return (name.removingPercentEncoding ?? name) + suffix
  }

  private var suffix: String { schema.map { ", schema \($0)" } ?? "" }

  /// Checks that the store can have the schema.
  ///
  /// - Throws: `ValidationError`.
  func validate() throws {
    guard schema != nil else { return }
    guard isOnServer else { throw ValidationError("--schema: only a PostgreSQL database has schemas.") }
    #if PostgreSQL
    do {
      try schema.map(PostgresJobStore.checkSchema)
    } catch let error as JobError {
      throw ValidationError("--schema: \(error.context)")
    }
    #endif
  }

  /// Opens the store, which must exist.
  ///
  /// - Parameter updatesTables: Whether to create and update the tables of a server. The tables of a file are always
  ///   updated.
  /// - Returns: The opened store, which the caller must close.
  /// - Throws: `JobError`, or an error of this file.
  func open(updatingTables updatesTables: Bool) async throws -> any ToolJobStore {
    guard isOnServer else {
      // A command that reads must not create a store.
      guard FileManager.default.fileExists(atPath: text) else { throw MissingStore(path: text) }
      guard try SQLiteJobStore.hasStore(at: text) else { throw NotAStore(path: text) }
      return try SQLiteJobStore(path: text)
    }
    #if PostgreSQL
    do {
      let migration: PostgresJobStore.Migration = updatesTables ? .automatic : .manual
      guard let schema else { return try await PostgresJobStore(text, migration: migration) }
      return try await PostgresJobStore(text, schema: schema, migration: migration)
    } catch let error as JobError where error.code == .unusableStore {
      throw UnusableDatabase(store: name, error: error)
    }
    #else
    throw UnsupportedStore(store: name)
    #endif
  }
}

/// The file of a store does not exist.
struct MissingStore: Error, CustomStringConvertible {
  let path: String

  var description: String { "\(path): There is no such file." }
}

/// A database has no job tables.
struct NotAStore: Error, CustomStringConvertible {
  let path: String

  var description: String {
    "\(path): The database is not a store of jobs. Specify the file that the application passes to its store."
  }
}

/// A database on a server can't be used.
struct UnusableDatabase: Error, CustomStringConvertible {
  let store: String
  let error: JobError

  var description: String { "\(store): \(error.context)" }
}

/// The tool was built without PostgreSQL.
struct UnsupportedStore: Error, CustomStringConvertible {
  let store: String

  var description: String { "\(store): This program was built without PostgreSQL. Enable the trait PostgreSQL." }
}
#endif
