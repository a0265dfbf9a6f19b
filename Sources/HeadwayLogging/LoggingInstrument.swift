#if Observability
import Headway
import Logging
import Synchronization

/// Logs what happens to the operations of one queue.
///
/// The queue owns it. It refers neither to the queue nor to an operation.
final class LoggingInstrument: OperationQueueInstrument {
  /// Data about an unfinished operation.
  private struct Record {
    /// The metadata of the code that added it.
    var metadata: Logger.Metadata = [:]
    /// The number of the last attempt that has started.
    var attempt = 1
  }

  private let logger: Logger
  private let levels: OperationLogLevels
  // Nothing is called under these locks, and no user object is released.
  private let records = Mutex<[ObjectIdentifier: Record]>([:])
  private let listening = Mutex<KeyValueObservation?>(nil)

  init(_ logger: Logger, _ levels: OperationLogLevels, queueName: String?) {
    var logger = logger
    logger[metadataKey: "queue"] = .string(queueName ?? "unnamed")
    (self.logger, self.levels) = (logger, levels)
  }

  /// Begins to log the events that concern the queue as a whole.
  func listen(to queue: OperationQueue) {
    guard isLogged(levels.stalled) || isLogged(levels.threadLimitReached) else { return }
    let (logger, levels) = (logger, levels)
    let token = queue.listen { event in
      switch event {
      case .stalled(let cycle):
        Self.log(logger, levels.stalled, "Queue is stalled: its operations wait for each other", cycle)
      case .deadlocked(let cycle):
        Self.log(logger, levels.stalled, "Thread waits for operations that wait for it", cycle)
      case .threadLimitReached(let limit):
        guard let level = levels.threadLimitReached else { return }
        logger.log(level: level, "Queue waits because the thread limit is reached", metadata: ["limit": "\(limit)"])
      default: break
      }
    }
    listening.withLock { $0 = token }
  }

  /// Stops logging the events that concern the queue as a whole.
  func stopListening() {
    let token = listening.withLock { $0.take() }
    token?.invalidate()
  }

  private static func log(
    _ logger: Logger, _ level: Logger.Level?, _ message: Logger.Message, _ operations: [Operation]
  ) {
    guard let level else { return }
    logger.log(level: level, message, metadata: ["operations": .array(operations.map { .string($0.loggedName) })])
  }

  private func isLogged(_ level: Logger.Level?) -> Bool { level.map { $0 >= logger.logLevel } ?? false }

  // MARK: Operations

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    guard let provider = logger.metadataProvider else { return }
    let metadata = provider.get()
    guard !metadata.isEmpty else { return }
    records.withLock { $0[ObjectIdentifier(operation), default: Record()].metadata = metadata }
  }

  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    logStart(of: operation, attempt: 1)
    body()
  }

  func run(_ attempt: OperationAttempt) async throws {
    // The first attempt was logged when the operation started.
    if attempt.number > 1 {
      records.withLock { $0[ObjectIdentifier(attempt.operation), default: Record()].attempt = attempt.number }
      logStart(of: attempt.operation, attempt: attempt.number)
    }
    try await attempt.run()
  }

  private func logStart(of operation: Operation, attempt: Int) {
    guard let level = levels.started, isLogged(level) else { return }
    var metadata = records.withLock { $0[ObjectIdentifier(operation)]?.metadata } ?? [:]
    metadata["attempt"] = "\(attempt)"
    log(level, "Operation started", operation, metadata)
  }

  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {
    var metadata = records.withLock { $0[ObjectIdentifier(operation)]?.metadata } ?? [:]
    guard let level = levels.retrying, isLogged(level) else { return }
    metadata["attempt"] = "\(attempt)"
    metadata["delay"] = .string("\(delay)")
    metadata["error"] = .string("\(error)")
    log(level, "Attempt failed and will be retried", operation, metadata)
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    let record = records.withLock { $0.removeValue(forKey: ObjectIdentifier(operation)) }
    let (level, message, error) = end(of: operation)
    guard let level, isLogged(level) else { return }
    var metadata = record?.metadata ?? [:]
    if let attempt = record?.attempt, attempt > 1 { metadata["attempt"] = "\(attempt)" }
    if let error { metadata["error"] = .string("\(error)") }
    log(level, message, operation, metadata)
  }

  private func end(of operation: Operation) -> (Logger.Level?, Logger.Message, (any Error)?) {
    switch operation.outcome {
    case .failure(let error as TimeLimitError): (levels.timedOut, "Operation exceeded its time limit", error)
    case .failure(let error as DependencyError): (levels.cancelled, "Operation was cancelled", error)
    case .failure(let error as QueueClosedError): (levels.cancelled, "Operation was cancelled", error)
    case .failure(let error): (levels.failed, "Operation failed", error)
    case .cancelled: (levels.cancelled, "Operation was cancelled", operation.error)
    case .success, nil: (levels.succeeded, "Operation succeeded", nil)
    }
  }

  private func log(
    _ level: Logger.Level, _ message: Logger.Message, _ operation: Operation, _ metadata: Logger.Metadata
  ) {
    var metadata = metadata
    metadata["operation"] = .string(operation.loggedName)
    logger.log(level: level, message, metadata: metadata)
  }
}

extension Operation {
  fileprivate var loggedName: String { name ?? "\(type(of: self))" }
}
#endif
