#if PostgreSQL
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import Testing

@testable import HeadwayJobsPostgreSQL

/// One connection, without its thread.
@Suite(.hangLimit, .serialized) struct PostgresSessionTests {
  private func open(_ connectionString: String? = nil) throws -> PostgresSession {
    var settings = try ConnectionSettings(connectionString ?? PostgresServer.shared().connectionString)
    settings.limits.statement = .seconds(1)
    // Longer than a statement, so that the server does not end a transaction during the silence.
    settings.limits.idleTransaction = .seconds(600)
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

  @Test(
    "J103: the servers of a connection string are tried in turn",
    arguments: [
      ("postgres://a:1,b:2,c:3/d", ["a,b,c 1,2,3", "b,c,a 2,3,1", "c,a,b 3,1,2", "a,b,c 1,2,3"]),
      ("host=a,b port=1", ["a,b 1", "b,a 1", "a,b 1"]), ("host=a port=1", ["a 1", "a 1"]),
      ("hostaddr=::1,::2 port=,2", ["::1,::2 ,2", "::2,::1 2,"]),
    ])
  func severalServers(connectionString: String, expected: [String]) throws {
    let settings = try ConnectionSettings(connectionString)
    for (failures, expected) in expected.enumerated() {
      let parameters = settings.parameters(after: failures)
      #expect(parameters.map(\.name) == settings.parameters.map(\.name))
      let servers = parameters.filter { ["host", "hostaddr", "port"].contains($0.name) }
      #expect(servers.sorted { $0.name < $1.name }.map(\.value).joined(separator: " ") == expected)
    }
  }

  // MARK: Prepared statements

  private func preparedCount(_ session: PostgresSession) throws -> Int {
    try session.run(Statement("SELECT count(*) FROM pg_prepared_statements")).first?.int(0) ?? -1
  }

  @Test("J104: after errors, only prepared statements that still exist are used again")
  func preparedStatements() throws {
    let session = try open()
    let (valid, failing) = (Statement("SELECT 1", isFrequent: true), Statement("SELECT 1 / $1", isFrequent: true, 0))
    let wrong = Statement("SELECT wrong", isFrequent: true)
    for _ in 0..<20 {
      _ = try session.run(valid)
      #expect(throws: PostgresError.self) { try session.run([valid, failing, valid]) }
      #expect(throws: PostgresError.self) { try session.run([valid, wrong, Statement("SELECT 2", isFrequent: true)]) }
      _ = try session.run(Statement("BEGIN"))
      #expect(throws: PostgresError.self) { try session.run([valid, failing]) }
      #expect(throws: PostgresError.self) { try session.run(Statement("SELECT 3", isFrequent: true)) }
      TransactionRunner.rollBack(session)
    }
    #expect(try preparedCount(session) == 2)
    _ = try session.run(Statement("DEALLOCATE ALL"))
    #expect(throws: PostgresError.self) { try session.run(valid) }
    _ = try session.run(valid)
    #expect(try preparedCount(session) == 1)
  }

  @Test("J177: a statement with an outdated plan is prepared again, in any language of the server")
  func outdatedPlans() throws {
    let session = try open()
    _ = try session.run(Statement("CREATE TEMPORARY TABLE changed (number integer)"))
    _ = try session.run(
      Statement(
        """
        CREATE FUNCTION pg_temp.fail(wanted boolean) RETURNS integer LANGUAGE plpgsql AS $$BEGIN
        IF wanted THEN RAISE 'Das geht nicht.' USING ERRCODE = 'feature_not_supported'; END IF;
        RETURN 1; END$$
        """))
    let select = Statement("SELECT * FROM changed", isFrequent: true)
    for type in ["bigint", "text", "bytea"] {
      _ = try session.run(select)
      _ = try session.run(Statement("ALTER TABLE changed ALTER number TYPE \(type) USING NULL"))
      _ = try session.run(Statement("BEGIN"))
      let error = #expect(throws: PostgresError.self) { try session.run(select) }
      #expect(error?.isConflict == true)
      TransactionRunner.rollBack(session)
    }
    _ = try session.run(select)
    #expect(try preparedCount(session) == 1)
    func fail(_ isWanted: Bool) -> Statement { Statement("SELECT pg_temp.fail($1)", isFrequent: true, isWanted) }
    _ = try session.run(fail(false))
    for isConflict in [true, false] {
      let error = #expect(throws: PostgresError.self) { try session.run(fail(true)) }
      #expect(error?.isConflict == isConflict)
    }
    #expect(try preparedCount(session) == 2)
  }

  // MARK: Standbys

  @Test("J103: a session with a standby server can read, and ends if it is used to write, even behind a pooler")
  func standby() throws {
    let primary = try PostgresServer()
    let standby = try PostgresServer(standbyOf: primary)
    let pooler = try Pooler(standby)
    let select = Statement("SELECT 1")
    let writes: [(PostgresSession) throws -> Void] = [
      { _ = try $0.run([PostgresSession.begin, select]) },
      { _ = try $0.run($0.requestSettings + [Statement("SELECT pg_notify('a', 'b')")]) }, { try $0.requirePrimary() },
    ]
    for connectionString in [standby.connectionString, pooler.connectionString] {
      for write in writes {
        let session = try open(connectionString)
        _ = try session.run([Statement("BEGIN READ ONLY")] + session.transactionSettings + [select])
        _ = try session.run(Statement("COMMIT"))
        #expect(session.isStandby)
        #expect(session.loss == nil)
        let error = #expect(throws: PostgresError.self) { try write(session) }
        #expect(error?.isConnectionLost == true)
        #expect(session.loss != nil)
      }
    }
    let session = try open(primary.connectionString)
    for write in writes { try write(session) }
    #expect(session.loss == nil)
    pooler.stop()
  }
}
#endif
