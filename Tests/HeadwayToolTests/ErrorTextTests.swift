#if SQLite
import GRDB
import HeadwayImport
@testable import HeadwayTool
import Testing

@Suite("Texts of errors", .hangLimit)
struct ErrorTextTests {
  @Test("I1: a database that stays locked is reported as in use, with advice") func locked() {
    let error = ImportError(
      .database, path: "db", context: "The database refused.",
      underlyingError: DatabaseError(resultCode: .SQLITE_BUSY, message: "database is locked"))
    #expect(
      ToolExit.description(of: error)
        == "db: The database refused. (database is locked) Another program is writing to it: run the same command "
        + "when that has ended; what was committed stays.")
  }
}
#endif
