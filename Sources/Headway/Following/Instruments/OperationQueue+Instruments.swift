import Synchronization

extension OperationQueueProtocol {
  /// Adds an instrument, which follows the operations that are added from now on.
  ///
  /// The queue keeps the instrument until the queue is freed. While a queue has instruments, its threads take single
  /// operations instead of batches, so a short operation takes longer.
  ///
  /// - Parameter instrument: The instrument.
  @_disfavoredOverload
  public func addInstrument(_ instrument: some OperationQueueInstrument) { (self as OperationQueue).add(instrument) }
}

/// The instruments of a queue.
///
/// See `Docs/decisions/0035-following-operations.md`.
///
/// Read without a lock. A list is never changed: a longer one replaces it, and the new list keeps the old one alive as
/// long as the queue. Each operation stores the number of instruments that were notified before it was added.
/// Therefore, the same instruments follow it until it ends, even if another thread adds an instrument in the meantime.
final class InstrumentList: Sendable {
  private let instruments: [any OperationQueueInstrument]
  /// The list without the last instrument.
  private let previous: InstrumentList?

  init(_ previous: InstrumentList?, adding instrument: any OperationQueueInstrument) {
    instruments = (previous?.instruments ?? []) + [instrument]
    self.previous = previous
  }

  /// The instrument that ``OperationQueueProtocol/recordTimes()`` has added.
  var times: OperationTimes? { instruments.lazy.compactMap { $0 as? OperationTimes }.first }

  /// The instruments that were notified before the operation was added.
  private func followers(of operation: Operation) -> ArraySlice<any OperationQueueInstrument> {
    instruments.prefix(operation.followerCount)
  }

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    operation.followerCount = instruments.count
    for instrument in instruments { instrument.willAdd(operation, to: queue) }
  }

  /// Calls `body` inside all instruments, the first one outermost.
  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    start(operation, in: queue, followers(of: operation), by: body)
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
    _ number: Int, of operation: Operation, in queue: OperationQueue, by body: @escaping () async throws -> Success
  ) async throws -> Success {
    let ending = AttemptEnding<Success>()
    let attempt = OperationAttempt(number: number, operation: operation, queue: queue) {
      do { ending.result = .success(try await body()) } catch {
        ending.result = .failure(error)
        throw error
      }
    }
    do { try await Self.run(attempt, followers(of: operation)) } catch {
      // An instrument must not replace the error, nor lose a value.
      guard ending.result == nil else { return try ending.result!.get() }
      throw error
    }
    guard let result = ending.result else {
      misuse("An instrument of \(queue.label) did not run the attempt of \(operation): call attempt.run().")
    }
    return try result.get()
  }

  private static func run(
    _ attempt: OperationAttempt, _ rest: ArraySlice<any OperationQueueInstrument>
  ) async throws {
    guard let first = rest.first else { return try await attempt.run() }
    try await first.run(
      OperationAttempt(number: attempt.number, operation: attempt.operation, queue: attempt.queue) {
        try await run(attempt, rest.dropFirst())
      })
  }

  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {
    for instrument in followers(of: operation) {
      instrument.willRetry(operation, afterAttempt: attempt, error: error, delay: delay, in: queue)
    }
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    for instrument in followers(of: operation).reversed() { instrument.didFinish(operation, in: queue) }
  }
}

extension InstrumentList: OperationFollower {
  static func note(
    _ transition: Transition, of operation: Operation, in queue: OperationQueue?, _ effects: inout Effects
  ) {
    guard let queue, let instruments = queue.instruments(of: operation) else { return }
    switch transition {
    case .added: instruments.willAdd(operation, to: queue)
    case .paused(let attempt):
      instruments.willRetry(
        operation, afterAttempt: attempt.number, error: attempt.error, delay: attempt.delay, in: queue)
    case .finished: instruments.didFinish(operation, in: queue)
    case .finishedUnlisted: queue.noteFinishedUnlisted(operation, by: instruments)
    default: break
    }
  }
}

/// The result of an attempt.
private final class AttemptEnding<Success> {
  var result: Result<Success, any Error>?
}

extension OperationQueue {
  fileprivate final func add(_ instrument: any OperationQueueInstrument) {
    update(collectingBatches: true) { state in
      // From here on, threads take single operations instead of batches.
      state.admission.reclaimBatches()
      let list = InstrumentList(state.followers.instruments, adding: instrument)
      state.followers.instruments = list
      instrumentsPointer.store(Unmanaged.passUnretained(list).toOpaque(), ordering: .releasing)
      state.setFollowing(.instruments, true, of: self)
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

  /// Calls the instruments when an operation that the queue has not accepted has finished.
  ///
  /// If it has not finished yet, a thread of the pool calls them later.
  fileprivate final func noteFinishedUnlisted(_ operation: Operation, by instruments: InstrumentList) {
    let note = PoolBlock(for: self) { instruments.didFinish(operation, in: self) }
    let waiter = Waiter.handler { WorkerPool.shared.submit(note, count: 1) }
    if !operation.addWaiter(waiter, for: .notified) { instruments.didFinish(operation, in: self) }
  }
}

extension Operation {
  /// How many instruments of its queue follow the operation.
  fileprivate final var followerCount: Int {
    get { links.withLock { Int($0.details?.pointee.followerCount ?? 0) } }
    set {
      links.withLock { links in
        state.announceDetails()
        links.detailsCreatedIfNeeded.pointee.followerCount = UInt32(newValue)
      }
    }
  }

  /// Calls the function of an attempt, inside the instruments of the operation's queue.
  final func runAttempt<Success>(
    _ attempt: Int, by body: @escaping () async throws -> Success
  ) async throws -> Success {
    guard let queue, let instruments = queue.instruments(of: self) else { return try await body() }
    return try await instruments.runAttempt(attempt, of: self, in: queue, by: body)
  }
}
