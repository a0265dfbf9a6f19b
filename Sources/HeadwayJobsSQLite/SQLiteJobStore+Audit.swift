#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension SQLiteJobStore {
  /// Checks that the store's tables are consistent with each other, and that the database is intact.
  ///
  /// The check takes O(*n*) in the size of the database. Other programs can use the store in the meantime, because the
  /// check reads the state at one moment.
  ///
  /// - Returns: Descriptions of the defects; empty if there are none.
  /// - Throws: `JobError` if the store can't be read.
  public func audit() async throws -> [String] {
    try await read { reader in
      let damage = try String.fetchAll(reader.database, sql: AuditSQL.integrity).filter { $0 != "ok" }
      // In a damaged database, the other queries can fail.
      guard damage.isEmpty else { return damage.map { "the database: \($0)" } }
      return try reader.defects(AuditSQL.rules) + reader.sumDefects()
    }
  }

  /// Returns whether a file is a database with the tables of a store.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: Whether ``init(path:maxPayloadSize:maxResultSize:clock:)`` would open an existing store instead of
  ///   creating one.
  /// - Throws: `JobError` with the code `unusableStore` if the file is not a database, or can't be read.
  public static func hasStore(at path: String) throws -> Bool {
    do {
      var configuration = Configuration()
      configuration.readonly = true
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { try? queue.close() }
      return try queue.read { try Int.fetchOne($0, sql: MetaSQL.hasTables) == 1 }
    } catch {
      throw JobError(opening: path, error)
    }
  }
}

extension JobReader {
  /// Checks that each job that was assigned a number is unfinished, finished, or deleted.
  fileprivate func sumDefects() throws -> [String] {
    try rows(StoreStatement(AuditSQL.sums)) { row in
      let (given, unfinished, finished, deleted) = (row.int(0), row.int(1), row.int(2), row.int(3))
      let sum = unfinished + finished + deleted
      return given == sum
        ? []
        : [
          "\(given) jobs were stored, but \(sum) are accounted for: \(unfinished) unfinished, \(finished) finished and "
            + "\(deleted) deleted ones"
        ]
    }.flatMap(\.self)
  }
}
#endif
