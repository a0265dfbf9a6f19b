import Synchronization

/// Calls of one function with the numbers from 0 on: the calling thread and others of the pool take them one by one.
final class ConcurrentIterations: PoolWork {
  typealias Body = @Sendable (_ number: Int) -> Void

  /// Workers are sent for so many calls at most, where nothing else limits them; those that come take more than one.
  static let mostWorkers = 64

  private struct State {
    /// Until all are done: a worker that comes late has nothing of it.
    var body: Body?
    var unfinished: Int
    var waiters = WaiterList()
  }

  private let count: Int
  /// The operation that the calling thread is inside of.
  private let operation: Operation?
  private let queue = ThreadContext.queue
  private let begun = Atomic<Int>(0)

  /// The queue in whose operation the calling thread is, which makes some of the calls.
  var owner: ObjectIdentifier { queue.map { ObjectIdentifier($0) } ?? ObjectIdentifier(self) }
  // Protected by its lock, under which nothing is called, and nothing of users' is released.
  private let state: Guarded<State>

  /// - Parameters:
  ///   - count: How many calls.
  ///   - operation: The operation that other threads are inside of while they take part.
  ///   - body: What to call.
  init(_ count: Int, in operation: Operation?, _ body: @escaping Body) {
    self.count = count
    self.operation = operation
    state = Guarded(State(body: body, unfinished: count))
  }

  /// Returns when all calls have returned.
  ///
  /// - Parameters:
  ///   - executor: What sends threads to take part.
  ///   - workerClass: Their class.
  ///   - width: How many calls run at once, at most.
  func run(on executor: any WorkExecutor, of workerClass: WorkerClass, atMost width: Int) {
    let others = min(count, width) - 1
    if others > 0 { executor.submit(self, count: others, on: workerClass) }
    if let body = state.withLock({ $0.body }) { takeNumbers(body) }
    WaiterList.block { waiter in
      state.withLock { state in
        guard state.unfinished > 0 else { return false }
        state.waiters.append(waiter)
        return true
      }
    }
    let body = state.withLock { state in
      defer { state.body = nil }
      return state.body
    }
    withExtendedLifetime(body) {}
  }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    // Others may have taken them all.
    guard begun.load(ordering: .relaxed) < self.count, let body = state.withLock({ $0.body }) else { return false }
    guard let operation else {
      takeNumbers(body)
      return true
    }
    ThreadContext.run(operation, in: queue, isShared: true) { takeNumbers(body) }
    return true
  }

  private func takeNumbers(_ body: Body) {
    var done = 0
    while true {
      // Relaxed: it only shares out the numbers; what they are called with, the lock has made visible.
      let number = begun.add(1, ordering: .relaxed).oldValue
      guard number < count else { break }
      body(number)
      done += 1
    }
    guard done > 0 else { return }
    let waiters = state.withLock { state in
      state.unfinished -= done
      return state.unfinished == 0 ? state.waiters.removeAll() : []
    }
    for waiter in waiters { waiter.wake() }
  }
}
