#if Observability
public import Logging

/// The level of a queue's log lines for each kind of event; nil for kinds that are not logged.
///
/// The defaults follow the advice of swift-log for libraries and keep a healthy service quiet. Apart from warnings, the
/// level `info` shows only operations that have failed, because it is possible that no code awaits them. Warnings
/// indicate defects of the program or its configuration. They are rare, no matter how much work the queue has.
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
  /// The cause is logged separately. For example, if a thousand operations depend on one that fails, there is one line
  /// at the level ``failed``.
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
