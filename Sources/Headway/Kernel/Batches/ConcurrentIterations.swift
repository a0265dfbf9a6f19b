import Synchronization

/// Calls one function with the numbers from 0 on.
///
/// The calling thread and other threads of the pool take the numbers one by one.
///
/// The calling thread takes numbers from the beginning, so it never waits for a thread to arrive. It requests one
/// helper. Each helper requests more, until the largest number of threads that is useful take part: short calls get few
/// threads, and calls that block get many. Once all numbers are given out, the requests are withdrawn from the pool. A
/// thread that requests helpers then checks whether all numbers are given out, and if so withdraws its request.
/// `Models/helpers.pml` has this protocol.
final class ConcurrentIterations: HelpedWork, @unchecked Sendable {  // `place` is protected by the executor's lock.
  typealias Body = @Sendable (_ number: Int) -> Void

  /// The maximum number of threads that take part if nothing else limits them.
  static let mostThreads = 64

  private struct State {
    /// The function; nil once all calls have returned, so that a late worker does not get it.
    var body: Body?
    var unfinished: Int
    /// Threads that take part.
    var busy = 1
    /// Threads that were requested, and do not take part yet.
    var requested = 0
    /// Requests threads of a more urgent class.
    var urgentHelp: UrgentHelp?
    var waiters = WaiterList()
  }

  /// The class of the threads that are requested.
  private let raisedClass: Atomic<WorkerClass>

  private let count: Int
  /// The operation that the calling thread is inside of.
  private let operation: Operation?
  private let queue = ThreadContext.queue
  private let executor: any WorkExecutor
  private let workerClass: WorkerClass
  /// How many threads take part at most.
  private let limit: Int
  /// How many numbers have been given out, or more.
  private let begun = Atomic<Int>(0)

  var place: Int?

  /// The queue that runs the calling thread's operation.
  ///
  /// The calling thread performs some of the calls.
  var owner: ObjectIdentifier { queue.map { ObjectIdentifier($0) } ?? ObjectIdentifier(self) }
  // Protected by its lock. While it is held, no function is called and no user object is released.
  private let state: Guarded<State>

  /// - Parameters:
  ///   - count: The number of calls.
  ///   - operation: The operation that other threads are inside of while they take part.
  ///   - executor: Sends threads to take part.
  ///   - workerClass: The class of these threads.
  ///   - limit: The largest number of calls that run at the same time.
  ///   - body: The function to call.
  init(
    _ count: Int, in operation: Operation?, on executor: any WorkExecutor, of workerClass: WorkerClass,
    atMost limit: Int, _ body: @escaping Body
  ) {
    (self.count, self.operation) = (count, operation)
    (self.executor, self.workerClass, self.limit) = (executor, workerClass, limit)
    raisedClass = Atomic(workerClass)
    state = Guarded(State(body: body, unfinished: count))
  }

  /// Returns when all calls have returned.
  func run() {
    // An operation that was raised before this point is raised here. If it is raised later, it finds these calls.
    let operation = workerClass == .normal ? nil : operation
    operation?.beginCalls(self)
    defer { operation?.endCalls(self) }
    if let operation { raise(to: operation.effectiveQuality(in: queue?.knownQuality ?? .default).workerClass) }
    summon()
    if let body = state.withLock({ $0.body }) { takeNumbers(body, helper: nil) }
    WaiterList.block { waiter in
      state.withLock { state in
        guard state.unfinished > 0 else { return false }
        state.waiters.append(waiter)
        return true
      }
    }
    // By now, all requests have been withdrawn, or the thread that makes one withdraws it.
    let used = state.withLock { state in
      defer { (state.body, state.urgentHelp) = (nil, nil) }
      return (state.body, state.urgentHelp)
    }
    withExtendedLifetime(used) {}
  }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    let (body, help) = state.withLock { state -> (Body?, UrgentHelp?) in
      // This thread was on its way when the operation was raised. A thread of the more urgent class takes its place.
      if let help = state.urgentHelp, let workerClass, help.workerClass.isMoreUrgent(than: workerClass) {
        return (nil, help)
      }
      state.requested -= 1
      state.busy += 1
      return (state.body, nil)
    }
    if let help { send(1, help) }
    // Other threads may have taken all numbers.
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
  ///   - body: The function to call.
  ///   - helper: The calling thread, if it leaves when other work needs it.
  private func takeNumbers(_ body: Body, helper: Worker?) {
    let turnEnd = helper == nil ? .max : Worker.endOfTurn()
    var done = 0
    var makesWay = false
    while !makesWay {
      let number = begun.add(1, ordering: .relaxed).oldValue
      guard number < count else { break }
      body(number)
      done += 1
      makesWay = helper.map { $0.isNeededElsewhere(turnEnd) || isRaised(beyond: $0) } ?? false
    }
    leave(done, makesWay: makesWay)
  }

  /// Leaves the calls after the thread has made `done` calls.
  private func leave(_ done: Int, makesWay: Bool) {
    let (waiters, isAwaited) = state.withLock { state in
      state.unfinished -= done
      if makesWay {
        state.busy -= 1
        state.requested += 1
      }
      return (state.unfinished == 0 ? state.waiters.removeAll() : [], state.requested > 0)
    }
    if makesWay { send(1, urgentHelp) } else if isAwaited { withdraw() }
    for waiter in waiters { waiter.wake() }
  }

  // MARK: Helpers

  /// Requests more threads, unless no numbers remain for them or the limit is reached.
  ///
  /// Threads on their way count toward the limit.
  ///
  /// Call this on a thread that is about to take a number.
  private func summon() {
    let left = count - begun.load(ordering: .relaxed)
    guard left > 0, limit > 1 else { return }
    let (missing, help) = state.withLock { state in
      let useful = min(limit, 2 * state.busy, state.busy + left - 1)
      let missing = max(0, useful - state.busy - state.requested)
      state.requested += missing
      return (missing, state.urgentHelp)
    }
    send(missing, help)
  }

  private var urgentHelp: UrgentHelp? { state.withLock { $0.urgentHelp } }

  /// Sends requests for threads that are already counted as requested.
  ///
  /// The calling thread requests and then checks whether the operation has been raised in the meantime. A thread that
  /// raises the operation first stores that, then withdraws the requests. As a result, no request for threads of a less
  /// urgent class remains.
  private func send(_ count: Int, _ help: UrgentHelp?) {
    var (count, help) = (count, help)
    while count > 0 {
      if let help {
        executor.summon(count, for: help, on: help.workerClass)
      } else {
        executor.summon(count, for: self, on: workerClass)
      }
      if isGivenOut {
        if let help { withdraw(help) }
        return withdraw()
      }
      let current = urgentHelp
      guard current !== help else { return }
      count = takeBack(help)
      help = current
    }
  }

  /// Withdraws requests for threads, which still count as requested.
  private func takeBack(_ help: UrgentHelp?) -> Int {
    if let help { executor.withdraw(help, on: help.workerClass) } else { executor.withdraw(self, on: workerClass) }
  }

  private func withdraw() {
    let withdrawn = takeBack(nil)
    let help = state.withLock { state in
      state.requested -= withdrawn
      return state.urgentHelp
    }
    if let help { withdraw(help) }
  }

  private func withdraw(_ help: UrgentHelp) {
    let withdrawn = takeBack(help)
    if withdrawn > 0 { state.withLock { $0.requested -= withdrawn } }
  }

  // MARK: Raising

  /// The same work, with requests for threads of a more urgent class.
  private final class UrgentHelp: HelpedWork, @unchecked Sendable {  // `place` is protected by the executor's lock.
    let calls: ConcurrentIterations
    let workerClass: WorkerClass
    var place: Int?

    init(_ calls: ConcurrentIterations, _ workerClass: WorkerClass) {
      (self.calls, self.workerClass) = (calls, workerClass)
    }

    var owner: ObjectIdentifier { calls.owner }

    func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
      calls.runOnWorker(of: workerClass, atMost: count)
    }
  }

  /// Requests threads of a more urgent class after the operation has been raised, at most one per processor.
  ///
  /// Helpers of a less urgent class finish the calls that they have begun, then leave so that threads of the new class
  /// can continue.
  func raise(to workerClass: WorkerClass) {
    guard workerClass.isMoreUrgent(than: self.workerClass), !isGivenOut else { return }
    let help = UrgentHelp(self, workerClass)
    let (isRaised, last) = state.withLock { state -> (Bool, UrgentHelp?) in
      let last = state.urgentHelp
      guard state.body != nil, last.map({ workerClass.isMoreUrgent(than: $0.workerClass) }) ?? true else {
        return (false, nil)
      }
      state.urgentHelp = help
      raisedClass.store(workerClass, ordering: .relaxed)
      return (true, last)
    }
    guard isRaised else { return }
    // Threads that have not arrived leave their places to the new ones.
    let takenBack = takeBack(nil) + (last.map { takeBack($0) } ?? 0)
    let missing = state.withLock { state in
      state.requested -= takenBack
      let left = count - begun.load(ordering: .relaxed)
      let missing = max(0, min(ProcessorCount.usable, left, limit - state.busy - state.requested))
      state.requested += missing
      return missing
    }
    send(missing, help)
  }

  /// Whether threads of a more urgent class than the helper's are requested.
  ///
  /// Relaxed: a helper that does not see the change checks again after its next call.
  private func isRaised(beyond helper: Worker) -> Bool {
    raisedClass.load(ordering: .relaxed).isMoreUrgent(than: helper.pool.workerClass)
  }
}

extension Operation {
  /// Records calls that a thread of a low class begins in the operation.
  fileprivate final func beginCalls(_ calls: ConcurrentIterations) {
    links.withLock { links in
      state.announceDetails()
      links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.calls.append(calls)
    }
  }

  /// Removes calls that have returned.
  fileprivate final func endCalls(_ calls: ConcurrentIterations) {
    links.withLock { $0.details?.pointee.rareDetails?.calls.removeAll { $0 === calls } }
  }

  /// The calls that threads of a low class have begun in the operation, and that have not returned.
  final var helpedCalls: [ConcurrentIterations] { links.withLock { $0.details?.pointee.rareDetails?.calls ?? [] } }
}
