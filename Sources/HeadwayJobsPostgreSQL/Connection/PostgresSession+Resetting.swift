#if PostgreSQL
import CPostgreSQL
@_spi(JobStore) import HeadwayJobs

extension PostgresSession {
  /// Ends a transaction that has executed statements of the application, and resets the state of the session.
  ///
  /// Other code uses the session next and must not find variables, roles, locks, temporary tables, cursors, statements
  /// or channels that this code has left behind. Behind a pooler, both steps happen on the same connection to the
  /// server, because the pooler gives the connection to another client only after the last statement.
  ///
  /// - Parameter statement: `COMMIT` or `ROLLBACK`.
  /// - Throws: `PostgresError` if the transaction was not ended. Then the state is not reset.
  /// - Returns: The command that the server has executed.
  func end(by statement: String) throws -> String? {
    if let loss { throw loss }
    do {
      let (first, resetting) = (deferred.count, resetting)
      let all = deferred + [Statement(statement)] + resetting
      deferred = []
      let answer = try exchange(all)
      if let (error, index) = answer.failure {
        if index <= first { throw error }
        // The next request uses another connection.
        loss = PostgresError.lost("The state of the session could not be reset: \(error)")
      } else {
        try noteReset(answer.results)
      }
      return PQcmdStatus(answer.results[first].handle).map { String(cString: $0) }
    } catch let error as PostgresError where error.isConnectionLost {
      loss = error
      throw error
    }
  }

  /// The statements that reset the state of the session, except its own prepared statements.
  private var resetting: [Statement] {
    let reset = SessionSQL.resetting.map { Statement($0) }
    return reset
      + (isPooled
        ? [Statement(SessionSQL.deallocateForeign)]
        : [settingStatement(isLocal: false), Statement(SessionSQL.preparedCounts, isFrequent: true)])
  }

  /// Deallocates all prepared statements if application code has added or deallocated some.
  private func noteReset(_ results: [QueryResult]) throws {
    guard !isPooled, let row = results.last?.first else { return }
    guard row.int(0) > 0 || row.int(1) != prepared.count + outdated.count else { return }
    (prepared, outdated) = ([:], [])
    if let failure = try exchange([Statement(SessionSQL.deallocateAll)]).failure { loss = failure.error }
  }
}
#endif
