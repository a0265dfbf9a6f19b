#if Observability
import Headway
import Synchronization
import Tracing

/// Records spans of the operations of one queue.
///
/// The queue owns it. It refers neither to the queue nor to an operation.
final class TracingInstrument: OperationQueueInstrument {
  private struct Spans {
    let operation: any Span
    /// The span of the attempt that runs.
    var attempt: (any Span)?
  }

  private let tracer: any Tracer
  private let queueName: String
  // Nothing is called under the lock.
  private let unfinished = Mutex<[ObjectIdentifier: Spans]>([:])

  init(_ tracer: any Tracer, queueName: String) { (self.tracer, self.queueName) = (tracer, queueName) }

  deinit {
    // When a suspended queue is freed, so are its operations. Each span that was started must end.
    for spans in unfinished.withLock({ $0 }).values {
      spans.attempt?.end()
      spans.operation.set(status: "freed")
      spans.operation.end()
    }
  }

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    let type = "\(type(of: operation))"
    let span = tracer.startAnySpan(operation.name ?? type, context: .current ?? .topLevel, ofKind: .internal)
    if span.isRecording {
      span.updateAttributes { attributes in
        attributes["headway.queue.name"] = queueName
        attributes["headway.operation.type"] = type
      }
    }
    unfinished.withLock { $0[ObjectIdentifier(operation)] = Spans(operation: span) }
  }

  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    guard let span = startAttempt(1, of: operation) else { return body() }
    ServiceContext.withValue(span.context, operation: body)
  }

  func run(_ attempt: OperationAttempt) async throws {
    // The span of the first attempt began when the operation started. The operation's task was created earlier, so it
    // has a different context.
    let first = attempt.number == 1 ? unfinished.withLock { $0[ObjectIdentifier(attempt.operation)]?.attempt } : nil
    guard let span = first ?? startAttempt(attempt.number, of: attempt.operation) else {
      return try await attempt.run()
    }
    try await ServiceContext.withValue(span.context) { try await attempt.run() }
  }

  private func startAttempt(_ attempt: Int, of operation: Operation) -> (any Span)? {
    let key = ObjectIdentifier(operation)
    guard let spans = unfinished.withLock({ $0[key] }) else { return nil }
    let span = tracer.startAnySpan("attempt", context: spans.operation.context, ofKind: .internal)
    if span.isRecording { span.attributes["headway.operation.attempt"] = attempt }
    let isUnfinished = unfinished.withLock { unfinished in
      unfinished[key]?.attempt = span
      return unfinished[key] != nil
    }
    // The operation might have finished on another thread in the meantime, and each span that was started must end.
    if !isUnfinished { span.end() }
    return span
  }

  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {
    let span = unfinished.withLock { $0[ObjectIdentifier(operation)]?.attempt.take() }
    span?.end(with: error)
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    guard let spans = unfinished.withLock({ $0.removeValue(forKey: ObjectIdentifier(operation)) }) else { return }
    switch operation.outcome {
    case .failure(let error):
      spans.attempt?.end(with: error)
      spans.operation.set(status: "failed")
      spans.operation.end(with: error)
    case .cancelled:
      spans.attempt?.end()
      spans.operation.set(status: "cancelled")
      spans.operation.end()
    case .success, nil:
      spans.attempt?.end()
      spans.operation.set(status: "succeeded")
      spans.operation.end()
    }
  }
}

extension Span {
  /// Sets how the operation ended.
  fileprivate func set(status: String) {
    if isRecording { attributes["headway.operation.status"] = status }
  }

  /// Ends the span with an error.
  func end(with error: any Error) {
    recordError(error)
    setStatus(SpanStatus(code: .error))
    end()
  }
}
#endif
