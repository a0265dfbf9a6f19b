public import Headway
import Synchronization

/// Runs the work of queues on the calling thread, one step at a time.
///
/// The test decides when each step runs. It can inspect everything between steps.
///
/// ```swift
/// import Testing
///
/// let executor = StepExecutor()
/// let queue = OperationQueue()
/// executor.control(queue)
/// queue.addOperations([first, second], waitUntilFinished: false)
/// executor.step()
/// #expect(first.isFinished && !second.isFinished)
/// executor.runSteps()
/// ```
///
/// The rules of the queue still apply: a step starts the operation that the queue chooses at that moment, by readiness,
/// priority, limit, suspension, and barriers. If several queues, or a queue and a completion block, can run a step, the
/// executor chooses the one that has waited longest or, with a seed, a random one.
///
/// You can use every member from any thread.
public final class StepExecutor: Sendable {
  private struct State {
    var work: [any PoolWork] = []
    var generator: SeededGenerator?
  }

  private let state: Mutex<State>

  /// Creates an executor that runs the work that has waited longest.
  public init() { state = Mutex(State()) }

  /// Creates an executor that chooses among waiting work by pseudo-random numbers.
  ///
  /// - Parameter seed: Determines the choices: the same steps with the same seed result in the same order.
  public init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }

  /// Makes a queue run its operations, and their completion blocks, in steps of this executor.
  ///
  /// The queue retains the executor from then on.
  ///
  /// - Parameter queue: The queue to control.
  /// - Precondition: The queue is empty, has no underlying queue, and is not the main queue.
  public func control(_ queue: OperationQueue) {
    require(queue.underlyingQueue == nil, "\(queue) has an underlying queue: set that to nil first.")
    queue.executor = self
  }

  /// Starts the next operation, or calls the next completion block, on the calling thread, and returns when it returns.
  ///
  /// An asynchronous operation may continue after the step. A step that waits for work that only another step would run
  /// never returns.
  ///
  /// - Returns: False if there was nothing to do.
  @discardableResult
  public func step() -> Bool {
    // A queue that requested a step may have no work left.
    while let work = next() {
      if work.runOnWorker(of: nil, atMost: 1) { return true }
    }
    return false
  }

  /// Runs steps until there is nothing left to do, including work that is added in the meantime.
  ///
  /// - Parameter limit: The maximum number of steps.
  /// - Returns: The number of steps that ran.
  @discardableResult
  public func runSteps(upTo limit: Int = .max) -> Int {
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
  /// Always true for this executor.
  package var isStepwise: Bool { true }

  /// Records that work waits.
  package func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    state.withLock { $0.work.append(contentsOf: repeatElement(work, count: count)) }
  }

  /// Records that work waits for helpers.
  package func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    submit(work, count: count, on: workerClass)
  }

  /// Removes work that waits for helpers.
  ///
  /// - Returns: The number of helpers that it waited for.
  package func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
    state.withLock { state in
      let count = state.work.count
      state.work.removeAll { $0 === work }
      return count - state.work.count
    }
  }
}
