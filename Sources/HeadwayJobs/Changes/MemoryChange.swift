/// The record of a change in tables that are in memory.
@_spi(JobStore) public struct MemoryChange: Hashable, Codable, Sendable {
  /// The token of the change.
  public var token: Int64
  /// The record.
  public var record: JobsChangeRecord

  /// Creates a row.
  public init(_ record: JobsChangeRecord, token: Int64) { (self.record, self.token) = (record, token) }
}
