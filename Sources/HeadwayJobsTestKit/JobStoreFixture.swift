@_spi(JobStore) public import HeadwayJobs

/// An empty store for a check, with functions to move its clock and to kill its workers.
///
/// Pass a new fixture to each check.
@_spi(JobStore) public protocol JobStoreFixture: Sendable {
  /// The store to check.
  var store: any JobStoreBackend { get }

  /// Returns the store as another process would open it, or the store itself if processes can't share it.
  ///
  /// - Returns: A store with the same jobs.
  /// - Throws: Any error; the check then fails.
  func openAgain() async throws -> any JobStoreBackend

  /// Moves the store's clock, which does not advance otherwise.
  ///
  /// - Parameter duration: The time to add, which can be negative.
  func advanceClock(by duration: Duration)

  /// Marks a worker as dead, as if its process had been killed.
  ///
  /// - Parameter worker: A worker that is registered with the fixture's ``store``.
  /// - Throws: Any error; the check then fails.
  func kill(_ worker: WorkerID) async throws
}
