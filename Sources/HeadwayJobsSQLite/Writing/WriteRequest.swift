#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// A change that waits for the next transaction of a store.
struct WriteRequest: Sendable {
  /// The size of a job for the limit of a transaction, which restricts how many jobs the transaction changes.
  static let sizeOfJob = 256

  /// The approximate number of bytes that it writes.
  let size: Int
  /// Whether the commit must wait for the disk.
  ///
  /// A claim does not need to: if a loss of power undoes it, all workers have also ended.
  let isDurable: Bool
  /// Whether the request runs code of the application.
  let runsUserCode: Bool
  /// Makes the change and returns the function that resumes the caller after the commit.
  let perform: @Sendable (JobTransaction) throws -> @Sendable () -> Void
  /// Resumes the caller with an error.
  let fail: @Sendable (any Error) -> Void
}
#endif
