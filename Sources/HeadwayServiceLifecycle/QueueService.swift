#if Observability
public import Headway
public import Logging
public import ServiceLifecycle

/// A queue as a service: when the service group shuts down, the queue finishes its work within a limited time.
///
/// ```swift
/// import Logging
/// import ServiceLifecycle
///
/// func run(_ server: any Service, logger: Logger) async throws {
///   let group = ServiceGroup(
///     services: [QueueService(queue, gracePeriod: .seconds(20), logger: logger), server],
///     gracefulShutdownSignals: [.sigterm], logger: logger)
///   try await group.run()
/// }
/// ```
///
/// A service group shuts down its services in reverse order, one after another. Place the service of a queue before
/// those that add operations, and after those that its operations use. In that case, the queue is drained after the
/// server has stopped, and a request that arrives before then can still add an operation.
///
/// The service owns the queue. When the service has been shut down, the queue is closed permanently.
public struct QueueService: Service {
  private let queue: OperationQueue
  private let gracePeriod: Duration
  private let cancellationPeriod: Duration
  private let logger: Logger?
  private let drain: @Sendable (OperationQueue, Duration) async -> DrainReport
  private let report: (@Sendable (_ drained: DrainReport, _ left: [String]) -> Void)?

  /// Creates the service of a queue.
  ///
  /// - Parameters:
  ///   - queue: The queue to drain. It must not be the main queue.
  ///   - gracePeriod: How long the operations of the queue can continue after the shutdown has begun. Waiting
  ///     operations are still started during this time. The system kills the process some time after the signal, so
  ///     choose a shorter period. The period must also be shorter than the `maximumGracefulShutdownDuration` of the
  ///     service group.
  ///   - cancellationPeriod: How long running operations then have to react to their cancellation.
  ///   - logger: Logs the shutdown, at the level `debug` if the queue has finished all operations in time, and
  ///     otherwise at `warning`.
  ///   - clock: Measures the times.
  ///   - onDrain: Called once, when the queue has been drained. Its first parameter contains the numbers of finished
  ///     and cancelled operations. The second one contains the descriptions of operations that are still running
  ///     because they have not reacted to their cancellation.
  public init<ClockType: Clock>(
    _ queue: OperationQueue, gracePeriod: Duration = .seconds(20), cancellationPeriod: Duration = .seconds(1),
    logger: Logger? = nil, clock: ClockType = ContinuousClock(),
    onDrain: (@Sendable (_ drained: DrainReport, _ left: [String]) -> Void)? = nil
  ) where ClockType.Duration == Duration {
    (self.queue, self.gracePeriod, self.cancellationPeriod) = (queue, gracePeriod, cancellationPeriod)
    (self.logger, self.report) = (logger, onDrain)
    drain = { queue, limit in await queue.drain(within: limit, clock: clock) }
  }

  /// Waits until the service group shuts down, and drains the queue.
  ///
  /// The method closes the queue, gives its operations the grace period to finish, and cancels the rest. Then it waits
  /// until the cancelled operations have finished, at most for the cancellation period, reports the result, and
  /// returns. Operations that are still running do not cause an error.
  ///
  /// If the task is cancelled, because another service of the group has failed or because the shutdown takes too long,
  /// both periods end immediately.
  public func run() async throws {
    // The error of a cancelled task is ignored, because the queue is drained in either case.
    try? await gracefulShutdown()
    logger?.debug("Draining queue", metadata: metadata)
    let drained = await drain(queue, gracePeriod)
    var left = drained.runningOperationDescriptions
    if !drained.isComplete { left = await drain(queue, cancellationPeriod).runningOperationDescriptions }
    log(drained, left)
    report?(drained, left)
  }

  private func log(_ drained: DrainReport, _ left: [String]) {
    var metadata = metadata
    metadata["finished"] = "\(drained.finishedCount)"
    guard !drained.isComplete else {
      logger?.debug("Queue has finished all operations", metadata: metadata)
      return
    }
    metadata["cancelled"] = "\(drained.cancelledCount)"
    metadata["running"] = .array(left.map { .string($0) })
    logger?.warning("Queue was shut down before all operations had finished", metadata: metadata)
  }

  private var metadata: Logger.Metadata { ["queue": .string(queue.name ?? "unnamed")] }
}
#endif
