import Dispatch
import Synchronization

/// A trace that is being recorded: the events of all queues of the process, with their times.
///
/// The product `HeadwayTrace` records a trace while a function runs (`Trace.record { … }`), turns it into a value that
/// you can store, draws it, and finds its critical path. Without that product, you can name parts of your work:
///
/// ```swift
/// let sum = Trace.span("add up") { (0..<1_000).reduce(0, +) }
/// print(sum)
/// ```
///
/// Each thread records its events in its own buffer, which has a fixed capacity. Events that do not fit are counted.
/// Until the trace ends, it keeps the memory of the operations that it has recorded, but not the operations. While no
/// trace is recorded, this costs nothing for most operations.
public final class Trace: Sendable {
  /// The number of the trace that is being recorded; 0 if there is none.
  private static let number = Atomic<UInt>(0)
  private static let current = Mutex<TraceSession?>(nil)

  /// Whether a trace is being recorded.
  @inline(__always) static var isRecording: Bool { number.load(ordering: .relaxed) != 0 }

  private let session: TraceSession

  /// How many events each thread can record, if you do not set another number.
  public static let defaultMaxEventCount = 250_000

  /// Starts to record the events of all queues of the process.
  ///
  /// - Parameter maxEventCountPerThread: How many events each thread can record. An operation has three or four
  ///   events, and more for its name, its dependencies and its attempts.
  /// - Returns: The trace, which ends when it is released. To get the recording, import `HeadwayTrace` and call
  ///   `stop()`.
  /// - Precondition: No other trace is being recorded, and `maxEventCountPerThread` is positive.
  public static func start(maxEventCountPerThread: Int = defaultMaxEventCount) -> Trace {
    require(maxEventCountPerThread > 0, "Trace.start() was called with room for \(maxEventCountPerThread) events.")
    return Trace(maxEventCountPerThread: maxEventCountPerThread)
  }

  private init(maxEventCountPerThread: Int) {
    let session = TraceSession(capacity: maxEventCountPerThread)
    self.session = session
    let isFirst = Self.current.withLock { current in
      guard current == nil else { return false }
      current = session
      Self.number.store(session.number, ordering: .releasing)
      return true
    }
    BlockingReports.install(
      blocks: { Self.noteBlocked($0, since: $1 ?? TraceEvent.now) }, continues: { Self.noteContinued($0) })
    if isFirst {
      Self.updateFollowers()
      Self.noteInitialState()
    }
    require(isFirst, "Trace.start() was called while a trace is being recorded: stop that one first.")
  }

  deinit { _ = end() }

  /// Ends the trace.
  ///
  /// - Returns: The recording, for `HeadwayTrace`; nil if the trace has already been stopped.
  package func takeEvents() -> RecordedEvents? {
    guard let threads = end() else { return nil }
    let endTime = TraceEvent.now
    let queues = LiveQueues.all.map { Self.settings(of: $0) }
    return RecordedEvents(threads: threads, queues: queues, beginTime: session.beginTime, endTime: endTime)
  }

  private func end() -> [RecordedEvents.Thread]? {
    let isCurrent = Self.current.withLock { current in
      guard current === session else { return false }
      current = nil
      Self.number.store(0, ordering: .releasing)
      return true
    }
    guard isCurrent else { return nil }
    Self.updateFollowers()
    return session.takeEvents()
  }

  /// Makes all queues note whether a trace is being recorded, after one has begun or ended.
  ///
  /// Another trace can begin at the same moment, so this is determined for each queue under its lock.
  private static func updateFollowers() {
    for queue in LiveQueues.all { updateFollowers(of: queue) }
  }

  /// Makes a queue note whether a trace is being recorded.
  static func updateFollowers(of queue: OperationQueue) {
    queue.state.withLock { $0.setFollowing(.trace, isRecording, of: queue) }
  }

  // MARK: Marks and spans

  /// Records the current moment, if a trace is being recorded.
  ///
  /// - Parameter name: The name of the moment.
  public static func mark(_ name: @autoclosure () -> String) {
    if isRecording { note(.mark(name())) }
  }

  /// Records how long a function takes, if a trace is being recorded.
  ///
  /// - Parameters:
  ///   - name: The name of the function's work.
  ///   - body: The function to call.
  /// - Returns: The result of the function.
  /// - Throws: The error that the function throws.
  public static func span<Success, Failure: Error>(
    _ name: @autoclosure () -> String, _ body: () throws(Failure) -> Success
  ) throws(Failure) -> Success {
    let identifier = beginSpan(name)
    defer { endSpan(identifier) }
    return try body()
  }

  /// Records how long an asynchronous function takes, if a trace is being recorded.
  ///
  /// - Parameters:
  ///   - name: The name of the function's work.
  ///   - actor: The isolation of the caller, where the function runs.
  ///   - body: The function to call.
  /// - Returns: The result of the function.
  /// - Throws: The error that the function throws.
  public static func span<Success>(
    _ name: @autoclosure () -> String, isolation actor: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Success
  ) async rethrows -> Success {
    let identifier = beginSpan(name)
    defer { endSpan(identifier) }
    return try await body()
  }

  private static let lastSpan = Atomic<UInt>(0)

  private static func beginSpan(_ name: () -> String) -> UInt? {
    guard isRecording else { return nil }
    let identifier = lastSpan.add(1, ordering: .relaxed).newValue
    note(.spanBegan(name()), of: identifier)
    return identifier
  }

  private static func endSpan(_ identifier: UInt?) {
    if let identifier, isRecording { note(.spanEnded, of: identifier) }
  }

  // MARK: For the core

  /// Records an event on the calling thread.
  ///
  /// Takes only locks that are never held during other calls.
  ///
  /// - Parameters:
  ///   - kind: The kind of event to record.
  ///   - object: The address of the operation or the queue, or the number of the span.
  ///   - operation: An operation whose address is in the event. No other operation may get this address.
  ///   - queue: A queue whose address is in the event. No other queue may get this address.
  ///   - time: The time of the event.
  static func note(
    _ kind: TraceEvent.Kind, of object: UInt = 0, keeping operation: Operation? = nil, _ queue: OperationQueue? = nil,
    at time: UInt64 = TraceEvent.now
  ) {
    buffer?.append(TraceEvent(time: time, object: object, kind: kind), keeping: operation, queue)
  }

  /// Records the settings of a queue, which is being freed.
  static func noteEnd(of queue: OperationQueue) { if isRecording { note(settings(of: queue)) } }

  /// Records which queues are suspended, and which workers are blocked.
  private static func noteInitialState() {
    for queue in LiveQueues.all where queue.isSuspended { noteSuspension(of: queue, true) }
    for workerClass in WorkerClass.allCases {
      WorkerPool.pool(of: workerClass).state.withLock { state in
        for worker in state.workers where worker.status == .blocked || worker.status == .foundBlocked {
          noteBlocked(worker, since: TraceEvent.now)
        }
      }
    }
  }

  /// Records that a queue was suspended or resumed.
  static func noteSuspension(of queue: OperationQueue, _ isSuspended: Bool) {
    guard isRecording else { return }
    let address = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
    note(.suspended(isSuspended), of: address, keeping: nil, queue)
  }

  /// Records that a worker is blocked, and since when.
  private static func noteBlocked(_ worker: Worker, since time: UInt64) {
    guard isRecording else { return }
    note(
      .blocked(thread: worker.name), of: UInt(bitPattern: Unmanaged.passUnretained(worker).toOpaque()), at: time)
  }

  /// Records that a worker is no longer blocked.
  private static func noteContinued(_ worker: Worker) {
    if isRecording { note(.continued, of: UInt(bitPattern: Unmanaged.passUnretained(worker).toOpaque())) }
  }

  private static func note(_ settings: TraceEvent.QueueSettings) { note(.queue(settings), of: settings.address) }

  private static func settings(of queue: OperationQueue) -> TraceEvent.QueueSettings {
    let limit = queue.maxConcurrentOperationCount
    return TraceEvent.QueueSettings(
      address: UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque()), name: queue.name,
      limit: limit < 0 ? nil : limit)
  }

  /// The buffer of the calling thread for the trace that is being recorded.
  private static var buffer: TraceBuffer? {
    // The number changes under the lock of `current`. If a thread reads an old one, its event is discarded.
    if let buffer = TraceBuffer.ofThread, buffer.session.number == number.load(ordering: .acquiring) { return buffer }
    return current.withLock { $0 }?.addBuffer()
  }
}
