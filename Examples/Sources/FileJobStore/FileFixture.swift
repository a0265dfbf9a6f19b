import Foundation
@_spi(JobStore) import HeadwayJobs
@_spi(JobStore) import HeadwayJobsTestKit
import Synchronization

/// An empty store in a temporary folder, with a clock that only the checks move.
struct FileFixture: JobStoreFixture {
  private final class Time: Sendable {
    let now = Mutex(StoreTime(microseconds: 1_800_000_000_000_000))
  }

  private let time = Time()
  let file: FileJobStore

  /// Creates a store.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder. Its previous contents are deleted.
  ///   - reloadInterval: How many requests the store handles before it reads its journal again; nil for any number.
  /// - Throws: `JobError`.
  init(in folder: String, reloadInterval: Int?) throws {
    try? FileManager.default.removeItem(atPath: folder)
    file = try FileJobStore(
      folder, clock: { [time] in time.now.withLock { $0 } }, isFlushed: false, reloadInterval: reloadInterval)
  }

  var store: any JobStoreBackend { file }

  // Processes can't share the store. Another process would have to read the journal.
  func openAgain() async throws -> any JobStoreBackend {
    try await file.reload()
    return file
  }

  func advanceClock(by duration: Duration) { time.now.withLock { $0 = $0 + duration } }

  func kill(_ worker: WorkerID) async { await file.kill(worker) }
}
