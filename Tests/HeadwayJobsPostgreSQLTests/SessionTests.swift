#if PostgreSQL
import Foundation
import HeadwayTestSupport
import Testing

@testable import HeadwayJobsPostgreSQL

/// One connection, without its thread.
@Suite(.hangLimit, .serialized) struct PostgresSessionTests {
  private func open(_ parameters: String = "") throws -> PostgresSession {
    var settings = try ConnectionSettings("\(PostgresServer.shared().connectionString) \(parameters)")
    settings.limits.statement = .seconds(1)
    return try PostgresSession(settings)
  }

  @Test("J104: if the server is silent while a transaction is undone, the session is not used again")
  func silentRollback() throws {
    let session = try open()
    _ = try session.run(Statement("BEGIN"))
    let process = pid_t(session.backend.process)
    kill(process, SIGSTOP)
    TransactionRunner.rollBack(session)
    kill(process, SIGCONT)
    let error = #expect(throws: PostgresError.self) { try session.run(Statement("SELECT 1")) }
    #expect(error?.isConnectionLost == true)
  }
}
#endif
