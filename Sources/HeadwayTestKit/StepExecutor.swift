public import Headway
import Synchronization

/// Runs what queues start on the calling thread, one step at a time: a test decides when, and can look at everything in
/// between.
///
/// ```swift
/// import Testing
///
/// let executor = StepExecutor()
/// let queue = OperationQueue()
/// executor.attach(queue)
/// queue.addOperations([first, second], waitUntilFinished: false)
/// executor.step()
/// #expect(first.isFinished && !second.isFinished)
/// executor.run()
/// ```
///
/// The queue's rules stay its own: a step starts the operation that the queue chooses at that moment, by readiness,
/// priority, limit, suspension and barriers. Where several queues, or a queue and a completion block, could go on, the
/// executor chooses: the one that has waited longest, or with a seed any of them.
///
/// Every member may be used from any thread.
public final class StepExecutor: Sendable {
  private struct State {
    var work: [any PoolWork] = []
    var generator: SeededGenerator?
  }

  private let state: Mutex<State>

  /// Creates an executor that takes what has waited longest.
  public init() { state = Mutex(State()) }

  /// Creates an executor that chooses among what waits by pseudo-random numbers.
  ///
  /// - Parameter seed: Determines the choices: the same steps with the same seed give the same order.
  public init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }

  /// Makes a queue run its operations, and their completion blocks, in steps of this executor.
  ///
  /// The queue holds the executor from then on.
  ///
  /// - Parameter queue: The queue.
  /// - Precondition: The queue holds nothing, has no underlying queue, and is not the main queue.
  public func attach(_ queue: OperationQueue) {
    precondition(queue.underlyingQueue == nil, "\(queue) has an underlying queue: set that to nil first.")
    queue.executor = self
  }

  /// Starts the next operation, or calls the next completion block, on the calling thread, and returns when that does.
  ///
  /// An asynchronous operation may go on after the step. A step that waits for what only another step would run hangs.
  ///
  /// - Returns: False if there was nothing to do.
  @discardableResult
  public func step() -> Bool {
    // A queue may have had to do when it sent for a step, and have none now.
    while let work = next() {
      if work.runOnWorker(of: nil, atMost: 1) { return true }
    }
    return false
  }

  /// Takes steps until there is nothing to do, also what is added meanwhile.
  ///
  /// - Parameter limit: How many steps at most.
  /// - Returns: How many steps were taken.
  @discardableResult
  public func run(atMost limit: Int = .max) -> Int {
    var count = 0
    while count < limit, step() { count += 1 }
    return count
  }

  private func next() -> (any PoolWork)? {
    state.withLock { state in
      guard !state.work.isEmpty else { return nil }
      guard var generator = state.generator else { return state.work.removeFirst() }
      defer { state.generator = generator }
      return state.work.remove(at: Int.random(in: state.work.indices, using: &generator))
    }
  }
}

extension StepExecutor: WorkExecutor {
  /// True.
  package var isStepwise: Bool { true }

  /// Notes that work waits.
  package func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    state.withLock { $0.work.append(contentsOf: repeatElement(work, count: count)) }
  }

  /// Notes that work waits for helpers.
  package func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    submit(work, count: count, on: workerClass)
  }

  /// Forgets work that waits for helpers.
  ///
  /// - Returns: How many it waited for.
  package func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
    state.withLock { state in
      let count = state.work.count
      state.work.removeAll { $0 === work }
      return count - state.work.count
    }
  }
}
