#if Observability
import Headway
import Metrics
import Synchronization

/// Records metrics of the operations of one queue.
///
/// The queue owns it. It refers neither to the queue nor to an operation.
final class MetricsInstrument: OperationQueueInstrument {
  private let metrics: QueueMetrics
  private let clock: MetricsClock
  // Nothing is called under these locks.
  private let operations = Mutex(WaitingList())
  private let sampling = Mutex<Task<Void, Never>?>(nil)

  init(_ metrics: QueueMetrics, clock: MetricsClock) { (self.metrics, self.clock) = (metrics, clock) }

  deinit {
    sampling.withLock { $0 }?.cancel()
    // When a suspended queue is freed, so are its operations.
    let (waiting, running) = operations.withLock { ($0.count(.waiting), $0.count(.running)) }
    if waiting > 0 { metrics.waiting.decrement(by: Double(waiting)) }
    if running > 0 { metrics.running.decrement(by: Double(running)) }
    metrics.oldestWait.set(0)
  }

  /// Begins to measure the age of the oldest waiting operation, which changes even if nothing happens in the queue.
  func sample(every interval: Duration) {
    measureOldestWait()
    let clock = clock
    let task = Task.detached { [weak self] in
      while await clock.sleep(interval), let self { self.measureOldestWait() }
    }
    sampling.withLock { $0 = task }
  }

  /// Stops measuring the age of the oldest waiting operation.
  func stopSampling() {
    sampling.withLock { $0 }?.cancel()
    metrics.oldestWait.set(0)
  }

  private func measureOldestWait() {
    let oldest = operations.withLock { $0.oldest }
    metrics.oldestWait.set(oldest.map { Double(max(0, clock.now() - $0)) / 1e9 } ?? 0)
  }

  // MARK: Operations

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    let now = clock.now()
    if operations.withLock({ $0.add(ObjectIdentifier(operation), at: now) }) { metrics.waiting.increment() }
  }

  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    noteStart(of: operation)
    body()
  }

  func run(_ attempt: OperationAttempt) async throws {
    // The first attempt was counted when the operation started.
    if attempt.number > 1 { noteStart(of: attempt.operation) }
    try await attempt.run()
  }

  private func noteStart(of operation: Operation) {
    let now = clock.now()
    let start = operations.withLock { $0.start(ObjectIdentifier(operation), at: now) }
    guard let (added, previous) = start else { return }
    if let added { metrics.waitTime.record(from: added, to: now) }
    guard previous == .waiting else { return }
    metrics.waiting.decrement()
    metrics.running.increment()
  }

  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {
    metrics.retries.increment()
    guard operations.withLock({ $0.pause(ObjectIdentifier(operation)) }) else { return }
    metrics.running.decrement()
    metrics.waiting.increment()
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    guard let entry = operations.withLock({ $0.remove(ObjectIdentifier(operation)) }) else { return }
    switch entry.state {
    case .waiting: metrics.waiting.decrement()
    case .running: metrics.running.decrement()
    }
    let (count, runTime) =
      switch operation.outcome {
      case .failure: metrics.failed
      case .cancelled: metrics.cancelled
      case .success, nil: metrics.succeeded
      }
    count.increment()
    if let started = entry.started { runTime.record(from: started, to: clock.now()) }
  }
}

extension Timer {
  /// Records the time between two readings of the clock; 0 if the clock was set back.
  fileprivate func record(from begin: Int64, to end: Int64) { recordNanoseconds(max(0, end - begin)) }
}
#endif
