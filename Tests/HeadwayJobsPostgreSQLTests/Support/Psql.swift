#if PostgreSQL
import Foundation
import HeadwayJobsPostgreSQL
import HeadwayTestSupport

/// Runs `psql`, as another client of the database.
///
/// - Parameters:
///   - sql: The statements to run.
///   - connectionString: How to connect to the database.
/// - Throws: `PostgresServer.Failure` with the messages of `psql`.
/// - Returns: The rows, without column names.
@discardableResult
func psql(_ sql: String, _ connectionString: String) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", connectionString, "-c", sql]
  let (output, errors) = (Pipe(), Pipe())
  process.standardOutput = output
  process.standardError = errors
  try process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw PostgresServer.Failure(description: message) }
  return text.trimmingCharacters(in: .whitespacesAndNewlines)
}
extension PostgresStatement {
  /// The text with the values of the parameters, for `psql`.
  var withLiterals: String {
    var text = sql
    for (index, value) in parameters.enumerated().reversed() {
      let literal = value.map { "'" + $0.replacingOccurrences(of: "'", with: "''") + "'" } ?? "NULL"
      text = text.replacingOccurrences(of: "$\(index + 1)::", with: "\(literal)::")
    }
    return text
  }
}
#endif
