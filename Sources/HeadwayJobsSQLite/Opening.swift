#if Jobs
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs

/// The files of a store, found and checked when the store is opened.
struct StoreFiles {
  /// The path of the database, with symbolic links resolved by SQLite.
  let database: String
  /// The folder next to the database that contains locks and sockets.
  let folder: String
  /// The file that a process locks while it writes.
  let writerLock: LockFile
  /// The versions of the tables before and after they were migrated; 0 if there were no tables.
  private(set) var schemaVersions: (before: Int64, after: Int64) = (0, 0)

  /// Opens the files and migrates the tables.
  init(_ pool: DatabasePool, ownsPool: Bool) throws {
    guard !pool.configuration.readonly else {
      throw JobError(.unusableStore, "The pool is read-only, but a store of jobs must write. Open another pool.")
    }
    self = try pool.writeWithoutTransaction { database in
      var files = try StoreFiles(database)
      try files.writerLock.lock()
      defer { files.writerLock.unlock() }
      let durability = try DurabilitySetting(isDurable: true, database)
      defer { if !ownsPool { durability.restore(database) } }
      try database.beginWriting()
      do {
        files.schemaVersions = try Schema.migrate(database)
        try database.commit()
      } catch {
        if database.isInsideTransaction { try? database.rollback() }
        throw error
      }
      return files
    }
  }

  private init(_ connection: Database) throws {
    guard let name = sqlite3_db_filename(connection.sqliteConnection, "main"), name.pointee != 0 else {
      throw JobError(.unusableStore, "The database is not in a file, but jobs must survive the process. Open a file.")
    }
    database = String(cString: name)
    folder = database + "-headway"
    try LockFile.makeFolder(folder)
    try LockFile.prove(at: "\(folder)/\(UInt64.random(in: 0 ... .max)).probe")
    writerLock = try LockFile("\(folder)/writer.lock")
  }
}

extension JobError {
  /// Creates the error for a database that can't be opened.
  init(opening path: String, _ error: any Error) {
    if let error = error as? JobError {
      self = error
      return
    }
    let advice =
      switch (error as? DatabaseError)?.resultCode {
      case .SQLITE_NOTADB?: "It is not an SQLite database. Choose another path."
      case .SQLITE_CANTOPEN?: "It can't be opened. Check that its folder exists and that you may write to it."
      case .SQLITE_READONLY?, .SQLITE_PERM?: "It is read-only. Check the permissions of the file and its folder."
      case .SQLITE_FULL?: "The disk is full."
      default: "\(error)"
      }
    self.init(.unusableStore, "\(path) can't be used for jobs. \(advice)", underlyingError: error)
  }
}
#endif
