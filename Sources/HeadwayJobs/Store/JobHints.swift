import Synchronization

/// The changes of a transaction, for observers.
@_spi(JobStore) public struct JobHints: Sendable {
  /// The queues with jobs that might be claimable.
  public var claimableQueues: Set<String> = []
  /// Whether the store might have to be advanced earlier than before.
  public var hasScheduled = false
  /// The jobs that have ended.
  public var finished: [JobID] = []
  /// The queues with a pending limit that might have room.
  public var queuesWithRoom: Set<String> = []
  /// Whether a running job was cancelled.
  public var hasCancellation = false
  /// The workers of this process whose leases could not be renewed in time.
  public var lostWorkers: Set<WorkerID> = []

  /// Creates empty hints.
  public init() {}

  /// Whether there is nothing to send to observers.
  public var isEmpty: Bool {
    claimableQueues.isEmpty && finished.isEmpty && queuesWithRoom.isEmpty && lostWorkers.isEmpty && !hasCancellation
      && !hasScheduled
  }

  /// Adds the hints of another transaction.
  public mutating func formUnion(_ other: JobHints) {
    claimableQueues.formUnion(other.claimableQueues)
    queuesWithRoom.formUnion(other.queuesWithRoom)
    lostWorkers.formUnion(other.lostWorkers)
    finished += other.finished
    hasScheduled = hasScheduled || other.hasScheduled
    hasCancellation = hasCancellation || other.hasCancellation
  }
}

@_spi(JobStore) extension JobHints {
  /// Returns a message for the other processes of a store; nil if there is nothing to send.
  ///
  /// Each part begins with a letter that identifies its kind. Parts that would make the message too long are omitted:
  /// the other processes find the changes when they read the store.
  ///
  /// - Parameters:
  ///   - separator: The character between the parts.
  ///   - maxLength: The exclusive upper limit of the message's length, in bytes of UTF-8.
  ///   - maxFinishedCount: The maximum number of ended jobs in the message.
  /// - Returns: A message that is shorter than `maxLength` bytes.
  public func message(separator: Character, maxLength: Int, maxFinishedCount: Int) -> String? {
    var parts: [String] = []
    parts += claimableQueues.sorted().map { "q\($0)" }
    parts += queuesWithRoom.sorted().map { "r\($0)" }
    if hasScheduled { parts.append("s") }
    if hasCancellation { parts.append("c") }
    parts += finished.prefix(maxFinishedCount).map { "f\($0.rawValue)" }
    var message = ""
    for part in parts where message.utf8.count + part.utf8.count + 1 < maxLength {
      if !message.isEmpty { message.append(separator) }
      message += part
    }
    return message.isEmpty ? nil : message
  }

  /// Creates hints from the message of another process.
  ///
  /// Parts that are not valid have no effect.
  ///
  /// - Parameters:
  ///   - message: The text that another process has sent.
  ///   - separator: The character between its parts.
  public init(message: some StringProtocol, separator: Character) {
    self.init()
    for part in message.split(separator: separator) {
      let text = String(decoding: part.utf8.dropFirst(), as: UTF8.self)
      switch part.utf8.first {
      case UInt8(ascii: "q"): claimableQueues.insert(text)
      case UInt8(ascii: "r"): queuesWithRoom.insert(text)
      case UInt8(ascii: "s"): hasScheduled = true
      case UInt8(ascii: "c"): hasCancellation = true
      case UInt8(ascii: "f"): if let id = Int64(text) { finished.append(JobID(rawValue: id)) }
      default: break
      }
    }
  }
}

/// The functions that a store calls with hints.
@_spi(JobStore) public final class HintObservers: Sendable {
  private struct State {
    var handlers: [Int: @Sendable (JobHint) -> Void] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  /// Creates an empty list.
  public init() {}

  /// Adds a function.
  ///
  /// - Parameter handler: A function that is called with each hint.
  /// - Returns: A token that keeps the function registered. Release it to end the calls.
  public func add(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.handlers[state.lastNumber] = handler
      return state.lastNumber
    }
    return Token(self, number)
  }

  /// Calls the functions on this thread.
  ///
  /// - Parameter hints: The changes of a transaction.
  public func send(_ hints: JobHints) {
    guard !hints.isEmpty else { return }
    let handlers = state.withLock { Array($0.handlers.values) }
    for handler in handlers {
      for queue in hints.claimableQueues { handler(.claimable(queue: queue)) }
      if !hints.finished.isEmpty { handler(.finished(hints.finished)) }
      if hints.hasScheduled { handler(.scheduled) }
      if hints.hasCancellation { handler(.cancellationRequested) }
      for queue in hints.queuesWithRoom { handler(.room(queue: queue)) }
      for worker in hints.lostWorkers { handler(.leaseLost(worker)) }
    }
  }

  private func remove(_ number: Int) {
    // The function is released after the lock is released.
    _ = state.withLock { $0.handlers.removeValue(forKey: number) }
  }

  private final class Token: Sendable {
    private let observers: HintObservers
    private let number: Int

    init(_ observers: HintObservers, _ number: Int) { (self.observers, self.number) = (observers, number) }

    deinit { observers.remove(number) }
  }
}
