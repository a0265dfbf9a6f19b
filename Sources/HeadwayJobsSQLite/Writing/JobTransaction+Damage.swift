#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// Preserves the stored parts of jobs that can't be read completely.
///
/// The parts remain as they are stored, for people to inspect, and for a newer release that might be able to read them.
extension JobTransaction {
  private struct StoredParts {
    let settings: [UInt8]?
    let history: [UInt8]?
  }

  func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws {
    let parts = try parts(of: job.id)
    try write()
    try restore(parts, of: job.id, in: job.state.isFinished ? "headway_done" : "headway_job")
  }

  /// Returns the stored parts of an unfinished or finished job.
  private func parts(of id: JobID) throws -> StoredParts {
    let statement = try statement(
      """
      SELECT settings, history FROM headway_job WHERE id = ?1
      UNION ALL SELECT settings, history FROM headway_done WHERE id = ?1
      """)
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    guard try statement.step() else { return StoredParts(settings: nil, history: nil) }
    func bytes(_ column: Int) -> [UInt8]? { statement.isNull(column) ? nil : statement.bytes(column) }
    return StoredParts(settings: bytes(0), history: bytes(1))
  }

  private func restore(_ parts: StoredParts, of id: JobID, in table: String) throws {
    let statement = try statement("UPDATE \(table) SET settings = ?2, history = ?3 WHERE id = ?1")
    statement.bind(id.rawValue, at: 1)
    statement.bind(parts.settings, at: 2)
    statement.bind(parts.history, at: 3)
    try statement.run()
  }
}
#endif
