import Dispatch
import Synchronization

/// An event that a thread has recorded.
package struct TraceEvent {
  package enum Kind {
    /// The queue is being freed.
    case queue(QueueSettings)
    /// The queue was suspended or resumed.
    case suspended(Bool)
    case added(Operation.Type, queue: UInt, parent: UInt)
    case named(String)
    case dependency(on: UInt)
    case started(Operation.Type, queue: UInt)
    /// An attempt ended, and the operation pauses.
    case paused
    /// A thread is about to block, was found blocked, or continues.
    ///
    /// The object is the worker.
    case blocked(thread: String), continued
    /// If the operation was not held by a queue, and did not run, it is shown only if it has other events.
    case finished(Operation.Type, (any Error)?, isCancelled: Bool, wasHeld: Bool)
    case spanBegan(String)
    case spanEnded
    case mark(String)
  }

  package struct QueueSettings {
    package let address: UInt
    package let name: String?
    package let limit: Int?
  }

  /// In nanoseconds of uptime.
  package let time: UInt64
  /// The address of the operation or the queue, or the number of the span.
  package let object: UInt
  package let kind: Kind

  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// The events of all threads, which `HeadwayTrace` turns into a recording.
package struct RecordedEvents {
  /// The events of a thread, in order.
  package struct Thread {
    package let name: String
    package let events: [TraceEvent]
    /// How many events did not fit.
    package let lostCount: Int
    /// Keeps the addresses in the events unique.
    let kept: TraceSession.Kept
  }

  package let threads: [Thread]
  /// The settings of the queues that exist at the end.
  package let queues: [TraceEvent.QueueSettings]
  package let beginTime: UInt64
  package let endTime: UInt64
}

/// The buffers of one recording.
final class TraceSession: Sendable {
  private static let lastNumber = Atomic<UInt>(0)

  let number = lastNumber.add(1, ordering: .relaxed).newValue
  let capacity: Int
  let beginTime = TraceEvent.now
  private let buffers = Mutex<[TraceBuffer]>([])

  init(capacity: Int) { self.capacity = capacity }

  /// The memory of the objects that events refer to by their addresses.
  ///
  /// Unowned references keep the memory, so that no other object gets the same address. They do not keep the objects.
  struct Kept {
    private struct Reference {
      unowned let object: AnyObject
    }

    private var operations: [Reference] = []
    private var queues: [UInt: Reference] = [:]

    mutating func keep(_ operation: Operation) { operations.append(Reference(object: operation)) }

    mutating func keep(_ queue: OperationQueue) {
      let address = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
      if queues[address] == nil { queues[address] = Reference(object: queue) }
    }
  }

  /// Creates the buffer of the calling thread.
  func addBuffer() -> TraceBuffer {
    let buffer = buffers.withLock { buffers in
      let buffer = TraceBuffer(self, thread: Worker.current?.name ?? "thread \(buffers.count + 1)")
      buffers.append(buffer)
      return buffer
    }
    TraceBuffer.ofThread = buffer
    return buffer
  }

  /// Returns the events of all threads.
  ///
  /// Called after the recording has ended. An event that a thread is still recording is discarded.
  func takeEvents() -> [RecordedEvents.Thread] {
    let all = buffers.withLock { buffers in
      defer { buffers = [] }
      return buffers
    }
    return all.map { $0.take() }
  }
}

/// The events that one thread records for one session.
///
/// The lock is contended only when the recording ends.
final class TraceBuffer: Sendable {
  private struct State {
    var events: [TraceEvent] = []
    var kept = TraceSession.Kept()
    var lostCount = 0
    var isTaken = false
  }

  let session: TraceSession
  private let thread: String
  private let state = Mutex(State())

  init(_ session: TraceSession, thread: String) { (self.session, self.thread) = (session, thread) }

  private static let key = ThreadKey(atThreadEnd: { pointer in
    if let pointer { Unmanaged<TraceBuffer>.fromOpaque(pointer).release() }
  })

  /// The last buffer of the calling thread.
  fileprivate(set) static var ofThread: TraceBuffer? {
    get { key.value.map { Unmanaged<TraceBuffer>.fromOpaque($0).takeUnretainedValue() } }
    set {
      let old = key.value
      key.value = newValue.map { Unmanaged.passRetained($0).toOpaque() }
      if let old { Unmanaged<TraceBuffer>.fromOpaque(old).release() }
    }
  }

  func append(_ event: TraceEvent, keeping operation: Operation?, _ queue: OperationQueue?) {
    state.withLock { state in
      guard !state.isTaken else { return }
      guard state.events.count < session.capacity else { return state.lostCount += 1 }
      state.events.append(event)
      if let operation { state.kept.keep(operation) }
      if let queue { state.kept.keep(queue) }
    }
  }

  fileprivate func take() -> RecordedEvents.Thread {
    state.withLock { state in
      defer { (state.events, state.kept, state.isTaken) = ([], TraceSession.Kept(), true) }
      return RecordedEvents.Thread(
        name: thread, events: state.events, lostCount: state.lostCount, kept: state.kept)
    }
  }
}
