import Synchronization

extension OperationQueueProtocol {
  /// Adds an instrument, which follows the operations that are added from now on.
  ///
  /// The queue keeps the instrument until the queue is freed. From the first instrument on, the threads of the queue
  /// take single operations instead of batches, so a short operation takes longer.
  ///
  /// - Parameter instrument: The instrument, whose methods are called for each operation of the queue.
  /// - Returns: The registration, which can remove the instrument.
  /// - Complexity: O(*n*) in the number of instruments. Each addition and each removal also uses memory of this size
  ///   until the queue is freed.
  @_disfavoredOverload
  @discardableResult
  public func addInstrument(_ instrument: some OperationQueueInstrument) -> InstrumentRegistration {
    (self as OperationQueue).add(instrument)
  }
}

/// The registration of an instrument, which can remove the instrument again.
///
/// ```swift
/// final class Counter: OperationQueueInstrument {}
///
/// let registration = queue.addInstrument(Counter())
/// registration.invalidate()
/// ```
///
/// Like a ``CancellationRegistration``, a registration does not remove the instrument when you release it.
public struct InstrumentRegistration: Sendable {
  private let remove: @Sendable () -> Void

  package init(_ remove: @escaping @Sendable () -> Void) { self.remove = remove }

  /// Removes the instrument.
  ///
  /// The instrument does not follow operations that are added after this call. It continues to follow the operations
  /// that it follows already, until they have finished. Calling this method again has no effect.
  public func invalidate() { remove() }

  /// A registration that also calls a function.
  package func alsoCalling(_ function: @escaping @Sendable () -> Void) -> Self {
    Self { [remove] in
      remove()
      function()
    }
  }
}

/// The instruments of a queue.
///
/// See `Docs/decisions/0035-following-operations.md`.
///
/// Read without a lock. A list is never changed: a new list replaces it, and keeps the old list alive as
/// long as the queue. Each operation stores the number of the list that was notified before it was added. Therefore,
/// the same instruments follow it until it ends, even if another thread adds or removes an instrument in the meantime.
final class InstrumentList: Sendable {
  /// The number of this list, from 1.
  let number: UInt32
  private let instruments: [any OperationQueueInstrument]
  /// For each instrument, the number of the first list that has it.
  private let firstNumbers: [UInt32]
  private let previous: InstrumentList?

  private init(after previous: InstrumentList?, _ instruments: [any OperationQueueInstrument], _ firstNumbers: [UInt32])
  {
    number = (previous?.number ?? 0) + 1
    (self.instruments, self.firstNumbers, self.previous) = (instruments, firstNumbers, previous)
  }

  /// Returns a list with another instrument.
  static func adding(_ instrument: any OperationQueueInstrument, to list: InstrumentList?) -> InstrumentList {
    InstrumentList(
      after: list, (list?.instruments ?? []) + [instrument], (list?.firstNumbers ?? []) + [(list?.number ?? 0) + 1])
  }

  /// Returns a list without the instrument that first appeared in the list with the given number; nil if there is no
  /// such instrument.
  func removingInstrument(_ number: UInt32) -> InstrumentList? {
    guard let position = firstNumbers.firstIndex(of: number) else { return nil }
    var (instruments, firstNumbers) = (instruments, firstNumbers)
    instruments.remove(at: position)
    firstNumbers.remove(at: position)
    return InstrumentList(after: self, instruments, firstNumbers)
  }

  /// The instrument that ``OperationQueueProtocol/recordTimes()`` has added.
  var times: OperationTimes? { instruments.lazy.compactMap { $0 as? OperationTimes }.first }

  /// The instruments that were notified before the operation was added.
  private func followers(of operation: Operation) -> ArraySlice<any OperationQueueInstrument> {
    let number = operation.followerNumber
    var list: InstrumentList? = self
    while let newer = list, newer.number > number { list = newer.previous }
    return list?.instruments[...] ?? []
  }

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    operation.followerNumber = number
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
    // An instrument must not replace the error, nor lose a value.
    do { try await Self.run(attempt, followers(of: operation)) } catch { if ending.result == nil { throw error } }
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
  fileprivate final func add(_ instrument: any OperationQueueInstrument) -> InstrumentRegistration {
    let number = update(collectingBatches: true) { state in
      // From here on, threads take single operations instead of batches.
      state.admission.reclaimBatches()
      let list = InstrumentList.adding(instrument, to: state.followers.instruments)
      use(list, in: &state)
      state.setFollowing(.instruments, true, of: self)
      return list.number
    }
    return InstrumentRegistration { [weak self] in self?.removeInstrument(number) }
  }

  /// Removes the instrument that first appeared in the list with the given number.
  private func removeInstrument(_ number: UInt32) {
    update { state in
      if let list = state.followers.instruments?.removingInstrument(number) { use(list, in: &state) }
    }
  }

  private func use(_ list: InstrumentList, in state: inout QueueState) {
    state.followers.instruments = list
    instrumentsPointer.store(Unmanaged.passUnretained(list).toOpaque(), ordering: .releasing)
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
  /// The number of the list of instruments that follow the operation; 0 for none.
  fileprivate final var followerNumber: UInt32 {
    get { links.withLock { $0.details?.pointee.followerNumber ?? 0 } }
    set {
      links.withLock { links in
        state.announceDetails()
        // An instrument can read the dependencies when the operation has finished.
        _ = state.announceReadOfDependencies()
        links.detailsCreatedIfNeeded.pointee.followerNumber = newValue
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
