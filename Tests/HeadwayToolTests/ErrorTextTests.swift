#if SQLite
import GRDB
import HeadwayImport
@testable import HeadwayTool
import Testing

@Suite("Error messages of the tool", .hangLimit)
struct ErrorTextTests {
  @Test(
    "I3: a sentence ends with one period, even if a reason in parentheses follows it",
    arguments: [
      ("a: It can't be read. (No such file)", true), ("a: It can't be read. (SQLite (1) failed)", true),
      ("a: It can't be read (see b.)", true), ("a: It can't be read", false), ("a: It can't be read (now)", false),
      ("Is it (1)? (2) No (3)", false), (")", false), ("", false), ("What?", true),
    ]) func fullStops(text: String, isSentence: Bool)
  {
    #expect(ToolExit.sentence(text) == (isSentence ? text : text + "."))
  }

  @Test("I3: a cause that the context already contains is not repeated") func repeatedCause() {
    let cause = DatabaseError(resultCode: .SQLITE_FULL, message: "database or disk is full")
    func text(_ context: String) -> String {
      ToolExit.description(of: ImportError(.database, path: "db", context: context, underlyingError: cause))
    }
    #expect(text("It failed: database or disk is full.") == "db: It failed: database or disk is full.")
    #expect(text("It failed.") == "db: It failed. (database or disk is full)")
  }

  @Test("I1: the error for a database that stays locked explains how to continue") func locked() {
    let error = ImportError(
      .database, path: "db", context: "The database refused.",
      underlyingError: DatabaseError(resultCode: .SQLITE_BUSY, message: "database is locked"))
    #expect(
      ToolExit.description(of: error)
        == "db: The database refused. (database is locked) Another program is writing to it: run the same command "
        + "when that program has ended. Committed rows stay in the table.")
  }
}
#endif
