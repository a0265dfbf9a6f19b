#if PostgreSQL
import CPostgreSQL
@_spi(JobStore) import HeadwayJobs

/// A transaction of the application on a connection of a ``PostgresJobStore``.
///
/// Use it only in the function that receives it.
public final class PostgresTransaction {
  let session: PostgresSession
  let store: PostgresJobStore
  /// The hints of the jobs that were added, which are sent after the commit.
  private(set) var hints = JobHints()
  /// Whether the application has executed statements, which can change the state of the session.
  private(set) var hasExecuted = false
  /// The functions to call after the commit.
  private var completions: [() -> Void] = []
  private let limit: Duration
  private let end: ContinuousClock.Instant

  init(_ session: PostgresSession, _ store: PostgresJobStore, within limit: Duration) {
    self.session = session
    self.store = store
    self.limit = limit
    end = ContinuousClock.now + limit
  }

  /// Executes a statement.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// try await store.transaction { transaction in
  ///   try transaction.execute("INSERT INTO photo (path) VALUES ($1)", path)
  ///   try jobs.enqueue(Resize(path: path), in: transaction)
  /// }
  /// ```
  ///
  /// The values are never part of the statement's text, so they need no quotes.
  ///
  /// - Parameters:
  ///   - sql: One statement, with the parameters `$1`, `$2` and so on. It must not begin or end a transaction.
  ///   - values: The values of the parameters.
  /// - Returns: The number of rows that were changed.
  /// - Throws: ``PostgresError``; `JobError` with the code `transactionEnded` or `timeLimitExceeded`, or
  ///   `unencodablePayload` if the statement or a value contains a null character.
  @discardableResult
  public func execute(_ sql: String, _ values: (any PostgresValue)?...) throws -> Int {
    try run(sql, values).changeCount
  }

  /// Executes a statement and returns its rows.
  ///
  /// - Parameters:
  ///   - sql: One statement, with the parameters `$1`, `$2` and so on. It must not begin or end a transaction.
  ///   - values: The values of the parameters.
  /// - Returns: The rows that the statement returns.
  /// - Throws: ``PostgresError``; `JobError` with the code `transactionEnded` or `timeLimitExceeded`, or
  ///   `unencodablePayload` if the statement or a value contains a null character.
  public func rows(_ sql: String, _ values: (any PostgresValue)?...) throws -> [PostgresRow] {
    let result = try run(sql, values)
    let names = (0..<Int(PQnfields(result.handle))).map { column in
      PQfname(result.handle, Int32(column)).map { String(cString: $0) } ?? ""
    }
    return result.rows.map { row in
      PostgresRow(
        Dictionary(names.enumerated().map { ($1, row.optional($0, row.text)) }, uniquingKeysWith: { first, _ in first })
      )
    }
  }

  private func run(_ sql: String, _ values: [(any PostgresValue)?]) throws -> QueryResult {
    guard !sql.endsTransaction else { throw JobError.transactionEnded }
    let texts = values.map { $0?.postgresText }
    // libpq would end the text at the null character.
    guard !([sql] + texts).contains(where: { $0?.utf8.contains(0) == true }) else { throw JobError.nullCharacter }
    var statement = Statement(sql)
    statement.isText = true
    for text in texts { statement.parameters.add(inferred: text) }
    hasExecuted = true
    do {
      // After an error, only a rollback to a savepoint is possible.
      if sql.firstWords.first != "rollback" { session.runLater(try limitStatement()) }
      return try session.run(statement)
    } catch let error as PostgresError where error.sqlState == "57014" && ContinuousClock.now >= end {
      throw timeLimitExceeded
    }
  }

  /// Limits the time of the next statement to the rest of the transaction's time.
  private func limitStatement() throws -> Statement {
    let rest = end - ContinuousClock.now
    guard rest > .zero else { throw timeLimitExceeded }
    let milliseconds = min(rest, store.statementLimit).milliseconds + 1
    return Statement(SessionSQL.limitStatements, "\(milliseconds)")
  }

  /// Throws an error if the time limit has expired.
  func checkTime() throws { if ContinuousClock.now >= end { throw timeLimitExceeded } }

  private var timeLimitExceeded: JobError {
    JobError(
      .timeLimitExceeded,
      "The code of the transaction took longer than \(limit). Its writes were undone. Do slow work before the "
        + "transaction, or set another limit.")
  }

  // MARK: Jobs

  /// Changes jobs in the transaction and calls a function after its commit.
  func change<Answer>(
    isRepeatable: Bool = false, _ body: (JobTransaction) throws -> Answer, _ completion: @escaping (Answer) -> Void
  ) throws -> Answer {
    session.runLater(try limitStatement())
    let (answer, hints) = try store.runner.join(session, isRepeatable: isRepeatable, body)
    self.hints.formUnion(hints)
    completions.append { completion(answer) }
    return answer
  }

  /// Records the success of an attempt.
  ///
  /// - Returns: False if the attempt does not run its job, for example because it has already finished the job.
  func end(_ fence: JobFence, _ result: JobPayload?) throws -> Bool {
    session.runLater(try limitStatement())
    let (verdicts, hints) = try store.runner.join(session) {
      try $0.end([JobEnding(fence, .succeed(result: result))])
    }
    self.hints.formUnion(hints)
    // The verdict is `recorded`, too, if an earlier transaction has recorded the ending.
    return verdicts == [.recorded] && hints.finished.contains(fence.id)
  }

  /// Calls the functions for the jobs that were added or changed.
  func complete() { for completion in completions { completion() } }
}

extension String {
  /// Whether the statement begins or ends a transaction, which would prevent the store from committing it as a whole.
  fileprivate var endsTransaction: Bool {
    let words = firstWords
    switch words.first {
    case "begin"?, "start"?, "commit"?, "end"?, "abort"?: return true
    case "rollback"?: return !words.dropFirst().contains("to")
    case "prepare"?: return words.dropFirst().first == "transaction"
    default: return false
    }
  }

  /// The first three words, in lowercase letters.
  fileprivate var firstWords: [String] {
    var rest = self[...]
    // Comments can precede it.
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == ";" }
      if rest.hasPrefix("--") {
        rest = rest.drop { !$0.isNewline }
      } else if rest.hasPrefix("/*") {
        var depth = 0
        repeat {
          if rest.hasPrefix("/*") { depth += 1 } else if rest.hasPrefix("*/") { depth -= 1 }
          rest = rest.dropFirst(rest.hasPrefix("/*") || rest.hasPrefix("*/") ? 2 : 1)
        } while depth > 0 && !rest.isEmpty
      } else {
        break
      }
    }
    return rest.prefix(200).split { !$0.isLetter }.prefix(3).map { $0.lowercased() }
  }
}

extension JobError {
  static var nullCharacter: JobError {
    JobError(
      .unencodablePayload,
      "A statement or a value contains a null character, which PostgreSQL can't store. The statement was not executed.")
  }

  static var transactionEnded: JobError {
    JobError(
      .transactionEnded,
      "The code of a transaction has executed BEGIN, COMMIT or ROLLBACK, so all its writes were undone. To commit, "
        + "return from the code; to undo its writes, throw an error. Savepoints are allowed.")
  }
}
#endif
