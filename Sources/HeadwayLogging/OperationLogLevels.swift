#if Observability
public import Logging

/// The levels of a queue's log lines, for each kind of event; nil for kinds that it does not log.
///
/// The defaults follow the advice of swift-log for libraries, and keep a healthy service quiet. At the level `info`,
/// you see only operations that have failed, because it is possible that no code awaits them. Warnings are defects of
/// the program or its configuration. They are rare, no matter how much work the queue has.
///
/// ```swift
/// import Logging
///
/// let logger = Logger(label: "app.thumbnails")
/// var levels = OperationLogLevels()
/// levels.failed = .error
/// levels.retrying = .info
/// queue.addLogger(logger, levels: levels)
/// ```
public struct OperationLogLevels: Sendable, Hashable {
  /// An operation failed: the default is `info`.
  public var failed: Logger.Level? = .info
  /// An operation exceeded a time limit of its policy: the default is `info`.
  public var timedOut: Logger.Level? = .info
  /// An attempt failed, and the operation waits for its next attempt: the default is `debug`.
  public var retrying: Logger.Level? = .debug
  /// An operation was cancelled, or was not run because a dependency failed or the queue was closed: the default is
  /// `debug`.
  ///
  /// The cause of such an end is logged elsewhere, so a thousand operations that wait for one that fails cause one line
  /// of the level ``failed``.
  public var cancelled: Logger.Level? = .debug
  /// An operation succeeded: the default is `trace`.
  public var succeeded: Logger.Level? = .trace
  /// An attempt of an operation starts: the default is `trace`.
  public var started: Logger.Level? = .trace
  /// The operations of the queue can never run, or a thread waits in a cycle: the default is `warning`.
  public var stalled: Logger.Level? = .warning
  /// The queue has work, but no further threads can be created for it: the default is `warning`.
  public var threadLimitReached: Logger.Level? = .warning

  /// Creates the default levels.
  public init() {}
}
#endif
