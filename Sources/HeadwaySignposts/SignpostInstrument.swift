#if Observability && canImport(os)
import Headway
import Synchronization
import os

/// Shows the operations of one queue in Instruments.
///
/// The queue owns it. It refers neither to the queue nor to an operation.
final class SignpostInstrument: OperationQueueInstrument {
  private let log: OSLog
  private let queueName: String
  // The operations with an attempt that has begun. Nothing is called under the lock.
  private let running = Mutex<Set<ObjectIdentifier>>([])

  init(subsystem: String, category: String, queueName: String) {
    log = OSLog(subsystem: subsystem, category: category)
    self.queueName = queueName
  }

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    guard log.signpostsEnabled else { return }
    os_signpost(
      .begin, log: log, name: "Operation", signpostID: OSSignpostID(log: log, object: operation),
      "%{public}s: %{public}s", queueName, operation.signpostName)
  }

  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    beginAttempt(1, of: operation)
    body()
  }

  func runAttempt(
    _ attempt: Int, of operation: Operation, in queue: OperationQueue, by body: () async throws -> Void
  ) async throws {
    // The first attempt begins with the start.
    if attempt > 1 { beginAttempt(attempt, of: operation) }
    try await body()
  }

  private func beginAttempt(_ attempt: Int, of operation: Operation) {
    guard log.signpostsEnabled else { return }
    _ = running.withLock { $0.insert(ObjectIdentifier(operation)) }
    os_signpost(
      .begin, log: log, name: "Attempt", signpostID: OSSignpostID(log: log, object: operation),
      "%{public}s: %{public}s, attempt %ld", queueName, operation.signpostName, attempt)
  }

  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {
    endAttempt(of: operation)
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    endAttempt(of: operation)
    guard log.signpostsEnabled else { return }
    os_signpost(.end, log: log, name: "Operation", signpostID: OSSignpostID(log: log, object: operation))
  }

  private func endAttempt(of operation: Operation) {
    guard running.withLock({ $0.remove(ObjectIdentifier(operation)) }) != nil else { return }
    os_signpost(.end, log: log, name: "Attempt", signpostID: OSSignpostID(log: log, object: operation))
  }
}

extension Operation {
  fileprivate var signpostName: String { name ?? "\(type(of: self))" }
}
#endif
