#if Observability && canImport(os)
import Headway
import Synchronization
import os

/// Shows the operations of one queue in Instruments.
///
/// The queue owns it. It refers neither to the queue nor to an operation: an interval has an identifier that is derived
/// from the operation, so nothing needs to be stored between its beginning and its end.
///
/// `@unchecked Sendable`, because `OSSignposter` can be used from any thread, and the lock protects the rest.
final class SignpostInstrument: OperationQueueInstrument, @unchecked Sendable {
  private let signposter: OSSignposter
  private let queueName: String
  // The operations with an attempt that has begun. Nothing is called under the lock.
  private let running = Mutex<Set<ObjectIdentifier>>([])

  init(subsystem: String, category: String, queueName: String) {
    signposter = OSSignposter(subsystem: subsystem, category: category)
    self.queueName = queueName
  }

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    guard signposter.isEnabled else { return }
    let (queueName, name) = (queueName, operation.signpostName)
    _ = signposter.beginInterval(
      "Operation", id: signposter.makeSignpostID(from: operation),
      "\(queueName, privacy: .public): \(name, privacy: .public)")
  }

  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    beginAttempt(1, of: operation)
    body()
  }

  func run(_ attempt: OperationAttempt) async throws {
    // The interval of the first attempt began when the operation started.
    if attempt.number > 1 { beginAttempt(attempt.number, of: attempt.operation) }
    try await attempt.run()
  }

  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {
    endAttempt(of: operation)
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    endAttempt(of: operation)
    guard signposter.isEnabled else { return }
    signposter.endInterval("Operation", .beginState(id: signposter.makeSignpostID(from: operation)))
  }

  private func beginAttempt(_ attempt: Int, of operation: Operation) {
    guard signposter.isEnabled else { return }
    _ = running.withLock { $0.insert(ObjectIdentifier(operation)) }
    let (queueName, name) = (queueName, operation.signpostName)
    _ = signposter.beginInterval(
      "Attempt", id: signposter.makeSignpostID(from: operation),
      "\(queueName, privacy: .public): \(name, privacy: .public), attempt \(attempt)")
  }

  private func endAttempt(of operation: Operation) {
    guard running.withLock({ $0.remove(ObjectIdentifier(operation)) }) != nil else { return }
    signposter.endInterval("Attempt", .beginState(id: signposter.makeSignpostID(from: operation)))
  }
}

extension Operation {
  fileprivate var signpostName: String { name ?? "\(type(of: self))" }
}
#endif
