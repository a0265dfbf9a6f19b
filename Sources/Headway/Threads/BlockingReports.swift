import Synchronization

/// Receives reports that workers block and continue.
///
/// The functions are called on any thread, sometimes under a pool's lock. Therefore, they must not call user code and
/// can acquire only locks that are never held during other calls.
final class BlockingReports: Sendable {
  private static let installed = AtomicLazyReference<BlockingReports>()

  private let blocks: @Sendable (Worker, _ since: UInt64?) -> Void
  private let continues: @Sendable (Worker) -> Void

  private init(
    _ blocks: @escaping @Sendable (Worker, _ since: UInt64?) -> Void, _ continues: @escaping @Sendable (Worker) -> Void
  ) { (self.blocks, self.continues) = (blocks, continues) }

  /// Installs the functions that receive the reports.
  ///
  /// Only the first call in a process has an effect.
  ///
  /// - Parameters:
  ///   - blocks: Called when a worker is about to block, or was found blocked. In the second case, `since` is when it
  ///     began to block, in nanoseconds of uptime.
  ///   - continues: Called when a worker is no longer blocked.
  static func install(
    blocks: @escaping @Sendable (Worker, _ since: UInt64?) -> Void, continues: @escaping @Sendable (Worker) -> Void
  ) { _ = installed.storeIfNil(BlockingReports(blocks, continues)) }

  static func noteBlocked(_ worker: Worker, since time: UInt64? = nil) { installed.load()?.blocks(worker, time) }

  static func noteContinued(_ worker: Worker) { installed.load()?.continues(worker) }
}
