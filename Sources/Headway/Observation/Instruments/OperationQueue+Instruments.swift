import Synchronization

extension OperationQueueProtocol {
  /// Adds an instrument, which follows the operations that are added from now on.
  ///
  /// The queue keeps the instrument until the queue is freed. While a queue has instruments, its threads take single
  /// operations instead of batches, so adding and running an operation takes about a microsecond longer.
  ///
  /// - Parameter instrument: The instrument.
  @_disfavoredOverload
  public func addInstrument(_ instrument: some OperationQueueInstrument) { (self as OperationQueue).add(instrument) }
}

/// The instruments of a queue.
///
/// See `Docs/decisions/0035-following-operations.md`.
///
/// The list is read without a lock, so it is never changed. A longer list replaces it, and keeps it alive until the
/// queue is freed.
final class InstrumentList: Sendable {
  private let instruments: [any OperationQueueInstrument]
  private let previous: InstrumentList?

  init(_ previous: InstrumentList?, adding instrument: any OperationQueueInstrument) {
    instruments = (previous?.instruments ?? []) + [instrument]
    self.previous = previous
  }

  /// The instrument that ``OperationQueueProtocol/recordTimes()`` has added.
  var times: OperationTimes? { instruments.lazy.compactMap { $0 as? OperationTimes }.first }

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    for instrument in instruments { instrument.willAdd(operation, to: queue) }
  }

  /// Calls `body` inside all instruments, the first one outermost.
  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    start(operation, in: queue, instruments[...], by: body)
  }

  private func start(
    _ operation: Operation, in queue: OperationQueue, _ rest: ArraySlice<any OperationQueueInstrument>,
    by body: () -> Void
  ) {
    guard let first = rest.first else { return body() }
    first.start(operation, in: queue) { start(operation, in: queue, rest.dropFirst(), by: body) }
  }

  /// Calls `body` inside all instruments, the first one outermost.
  func runAttempt<Success>(
    _ attempt: Int, of operation: Operation, in queue: OperationQueue, by body: () async throws -> Success
  ) async throws -> Success {
    var result: Result<Success, any Error>?
    do {
      try await runAttempt(attempt, of: operation, in: queue, instruments[...]) {
        do { result = .success(try await body()) } catch {
          result = .failure(error)
          throw error
        }
      }
    } catch {
      // An instrument must not replace the error, nor lose a value.
      guard result == nil else { return try result!.get() }
      throw error
    }
    guard let result else { misuse("An instrument of \(queue.label) did not call the function of \(operation).") }
    return try result.get()
  }

  private func runAttempt(
    _ attempt: Int, of operation: Operation, in queue: OperationQueue,
    _ rest: ArraySlice<any OperationQueueInstrument>, by body: () async throws -> Void
  ) async throws {
    guard let first = rest.first else { return try await body() }
    try await first.runAttempt(attempt, of: operation, in: queue) {
      try await runAttempt(attempt, of: operation, in: queue, rest.dropFirst(), by: body)
    }
  }

  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {
    for instrument in instruments {
      instrument.willRetry(operation, afterAttempt: attempt, error: error, delay: delay, in: queue)
    }
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    for instrument in instruments.reversed() { instrument.didFinish(operation, in: queue) }
  }
}

extension OperationQueue {
  fileprivate final func add(_ instrument: any OperationQueueInstrument) {
    update(collectingBatches: true) { state in
      // From here on, threads take single operations instead of batches.
      state.admission.reclaimBatches()
      let list = InstrumentList(state.instruments, adding: instrument)
      state.instruments = list
      instrumentsPointer.store(Unmanaged.passUnretained(list).toOpaque(), ordering: .releasing)
    }
  }

  /// The instruments, if there are any.
  ///
  /// They are kept until the queue is freed.
  @inline(__always) final var instruments: InstrumentList? {
    instrumentsPointer.load(ordering: .acquiring).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// The instruments that follow an operation.
  final func instruments(of operation: Operation) -> InstrumentList? {
    guard let instruments, operation.isCancellable else { return nil }
    return instruments
  }

  /// Calls the instruments for an operation that finished before the queue accepted it.
  final func noteFinishedUnlisted(_ operation: Operation) { instruments(of: operation)?.didFinish(operation, in: self) }
}

extension Operation {
  /// Calls the function of an attempt, inside the instruments of the operation's queue.
  final func runAttempt<Success>(
    _ attempt: Int, by body: () async throws -> Success
  ) async throws -> Success {
    guard let queue, let instruments = queue.instruments(of: self) else { return try await body() }
    return try await instruments.runAttempt(attempt, of: self, in: queue, by: body)
  }

  /// Notes that an attempt has failed, and that the operation waits for the next one.
  package final func noteRetry(afterAttempt attempt: Int, error: any Error, delay: Duration) {
    guard let queue, let instruments = queue.instruments(of: self) else { return }
    instruments.willRetry(self, afterAttempt: attempt, error: error, delay: delay, in: queue)
  }
}
