import Synchronization

/// Calls of one function with the numbers from 0 on: the calling thread and others of the pool take them one by one.
///
/// The calling thread takes numbers from the beginning, so it never waits for a thread to arrive. It asks for one
/// helper. Each helper asks for more, until as many take part as may: short calls get few threads, and calls that block
/// get many. Once all numbers are given out, the requests are withdrawn from the pool. A thread that asks for helpers
/// then checks whether all numbers are given out, and if so withdraws its request. `Models/helpers.pml` has this
/// protocol.
final class ConcurrentIterations: HelpedWork, @unchecked Sendable {  // `place` is protected by the executor's lock.
  typealias Body = @Sendable (_ number: Int) -> Void

  /// So many threads take part at most, where nothing else limits them.
  static let mostThreads = 64

  private struct State {
    /// Until all are done: a worker that comes late does not get it.
    var body: Body?
    var unfinished: Int
    /// Threads that take part.
    var busy = 1
    /// Threads that were sent for, and do not take part yet.
    var requested = 0
    var waiters = WaiterList()
  }

  private let count: Int
  /// The operation that the calling thread is inside of.
  private let operation: Operation?
  private let queue = ThreadContext.queue
  private let executor: any WorkExecutor
  private let workerClass: WorkerClass
  /// How many threads take part, at most.
  private let limit: Int
  /// How many numbers were given out, or more.
  private let begun = Atomic<Int>(0)

  var place: Int?

  /// The queue in whose operation the calling thread is, which makes some of the calls.
  var owner: ObjectIdentifier { queue.map { ObjectIdentifier($0) } ?? ObjectIdentifier(self) }
  // Protected by its lock, under which nothing is called, and nothing of users' is released.
  private let state: Guarded<State>

  /// - Parameters:
  ///   - count: How many calls.
  ///   - operation: The operation that other threads are inside of while they take part.
  ///   - executor: Sends threads to take part.
  ///   - workerClass: The class of these threads.
  ///   - limit: How many calls run at once, at most.
  ///   - body: What to call.
  init(
    _ count: Int, in operation: Operation?, on executor: any WorkExecutor, of workerClass: WorkerClass,
    atMost limit: Int, _ body: @escaping Body
  ) {
    (self.count, self.operation) = (count, operation)
    (self.executor, self.workerClass, self.limit) = (executor, workerClass, limit)
    state = Guarded(State(body: body, unfinished: count))
  }

  /// Returns when all calls have returned.
  func run() {
    summon()
    if let body = state.withLock({ $0.body }) { takeNumbers(body, helper: nil) }
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
    let body = state.withLock { state in
      state.requested -= 1
      state.busy += 1
      return state.body
    }
    // Others may have taken all numbers.
    guard !isGivenOut, let body else { return false }
    summon()
    let helper = Worker.current
    guard let operation else {
      takeNumbers(body, helper: helper)
      return true
    }
    ThreadContext.run(operation, in: queue, isShared: true) { takeNumbers(body, helper: helper) }
    return true
  }

  /// Whether all numbers are given out.
  ///
  /// Relaxed: the lock makes visible what the body needs. A thread that takes the executor's lock after another has
  /// withdrawn the work sees that all are given out.
  private var isGivenOut: Bool { begun.load(ordering: .relaxed) >= count }

  /// - Parameters:
  ///   - body: What to call.
  ///   - helper: The calling thread, if it makes way for other work.
  private func takeNumbers(_ body: Body, helper: Worker?) {
    let turnEnd = helper == nil ? .max : Worker.endOfTurn()
    var done = 0
    var makesWay = false
    while !makesWay {
      let number = begun.add(1, ordering: .relaxed).oldValue
      guard number < count else { break }
      body(number)
      done += 1
      makesWay = helper?.isNeededElsewhere(turnEnd) == true
    }
    leave(done, makesWay: makesWay)
  }

  /// The thread has made so many calls, and takes part no longer.
  private func leave(_ done: Int, makesWay: Bool) {
    let (waiters, isAwaited) = state.withLock { state in
      state.unfinished -= done
      if makesWay {
        state.busy -= 1
        state.requested += 1
      }
      return (state.unfinished == 0 ? state.waiters.removeAll() : [], state.requested > 0)
    }
    if makesWay { summon(1) } else if isAwaited { withdraw() }
    for waiter in waiters { waiter.wake() }
  }

  // MARK: Helpers

  /// Sends for more threads, unless as many as may be take part or are on their way, or there are no numbers for them.
  ///
  /// Called by a thread that is about to take a number.
  private func summon() {
    let left = count - begun.load(ordering: .relaxed)
    guard left > 0, limit > 1 else { return }
    let missing = state.withLock { state in
      let useful = min(limit, 2 * state.busy, state.busy + left - 1)
      let missing = max(0, useful - state.busy - state.requested)
      state.requested += missing
      return missing
    }
    if missing > 0 { summon(missing) }
  }

  private func summon(_ missing: Int) {
    executor.summon(missing, for: self, on: workerClass)
    if isGivenOut { withdraw() }
  }

  private func withdraw() {
    let withdrawn = executor.withdraw(self, on: workerClass)
    if withdrawn > 0 { state.withLock { $0.requested -= withdrawn } }
  }
}
