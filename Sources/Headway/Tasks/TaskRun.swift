import Dispatch
import Synchronization

/// The Swift task of a ``TaskOperation``, and the executor that it prefers.
///
/// The task is made with the operation, for what it inherits from its creator; its first job waits here until the
/// operation starts. From then on its jobs run where those of the operation's queue do. The operation ends on the
/// thread that has run the last job, when that has returned: what the function captured has been released by then, and
/// nothing that follows the end is inside the task.
final class TaskRun<Success: Sendable>: TaskExecutor {
  private enum Phase {
    case waiting
    case running(TaskOperation<Success>, OperationQueue?)
    /// The function has returned; the operation is to end, or has.
    case over
    /// The function does not run.
    case abandoned
  }

  private struct State {
    var phase = Phase.waiting
    /// The first of the task, before the start.
    var firstJob: UnownedJob?
    var result: Result<Success, any Error>?
  }

  // Protected by its lock, under which nothing is called, and nothing of users' is released.
  private let state = Guarded(State())

  private init() {}

  /// Makes a task that runs `body` when ``begin(_:in:)`` is called.
  static func make(
    _ body: sending @escaping @isolated(any) () async throws -> Success
  ) -> (TaskRun, Task<Void, Never>) {
    let run = TaskRun()
    let task = Task(executorPreference: run) {
      guard !run.isAbandoned else { return }
      let result: Result<Success, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      run.note(result)
    }
    return (run, task)
  }

  var result: Result<Success, any Error>? { state.withLock { $0.result } }

  private var isAbandoned: Bool {
    state.withLock { if case .abandoned = $0.phase { true } else { false } }
  }

  private func note(_ result: Result<Success, any Error>) { state.withLock { $0.result = result } }

  // MARK: The operation

  /// The operation starts: the task begins on the calling thread.
  ///
  /// - Parameters:
  ///   - operation: The operation, which is kept until it ends.
  ///   - queue: Its queue, which owns itself until then; nil if it was started by hand outside of operations.
  func begin(_ operation: TaskOperation<Success>, in queue: OperationQueue?) {
    let job = state.withLock { state in
      state.phase = .running(operation, queue)
      defer { state.firstJob = nil }
      return state.firstJob
    }
    if let job { perform(job) }
  }

  /// The operation will never start: the task ends without having called the function.
  func abandon() {
    let job = state.withLock { state -> UnownedJob? in
      guard case .waiting = state.phase else { return nil }
      state.phase = .abandoned
      defer { state.firstJob = nil }
      return state.firstJob
    }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }

  // MARK: The executor

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let place = state.withLock { state -> (operation: TaskOperation<Success>, queue: OperationQueue?)? in
      if case .running(let operation, let queue) = state.phase { return (operation, queue) }
      state.firstJob = job
      return nil
    }
    guard let place else { return }
    let work = PoolBlock { self.perform(job) }
    guard let queue = place.queue else { return WorkerPool.shared.submit(work, count: 1) }
    queue.submit(work, of: place.operation)
  }

  /// Runs a job of the task, and ends the operation if that was the last.
  private func perform(_ job: UnownedJob) {
    let place = state.withLock { state -> (operation: TaskOperation<Success>, queue: OperationQueue?)? in
      if case .running(let operation, let queue) = state.phase { (operation, queue) } else { nil }
    }
    guard let (operation, queue) = place else { return }
    ThreadContext.run(operation, in: queue) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    let result = state.withLock { state -> Result<Success, any Error>? in
      guard case .running = state.phase, let result = state.result else { return nil }
      // This thread has what is released by that, too.
      state.phase = .over
      return result
    }
    if let result { operation.end(with: result) }
    withExtendedLifetime(queue) {}
  }
}
