/// An operation whose work is an asynchronous function, and that has a value.
///
/// ```swift
/// let page = queue.addTask { try await fetch(addresses[0]) }
/// let image = queue.addTask(after: page) { try await render(page.value) }
/// let png = try await image.value
/// ```
///
/// It keeps its place in the queue's limit from the start to the end, and holds no thread while it awaits. What it does
/// between two suspensions runs on the threads of its queue, so a call that blocks there holds up neither other
/// operations nor Swift's own threads. Work that is isolated to an actor with an executor of its own runs there. Other
/// actors also run on the threads of the queue; a call that blocks inside one holds up the tasks that call that actor.
///
/// The task of the operation is made with it: it has the task-local values and the priority of its creator.
///
/// Priorities go both ways, too. An operation that is made in a task of another than the medium priority has the
/// ``Operation/qualityOfService`` that belongs to that, and one for which a task of another than the medium priority
/// waits is raised to that task's; nothing was said of a task of the medium one. And
/// the task of an operation has at least the priority of the quality of service at which that runs, also if something
/// more urgent comes to wait for it meanwhile.
///
/// Cancelling goes both ways. Cancelling the operation cancels its task; and a task that was cancelled from inside, and
/// ends with a `CancellationError`, makes the operation a cancelled one.
public final class TaskOperation<Success: Sendable>: Operation, @unchecked Sendable {
  // What does not change refers to what protects itself.
  private let taskRun: TaskRun
  /// There until the operation is freed.
  @exclusivity(unchecked) private var task: Task<Success, any Error>?
  /// Kept until the operation has ended, so that the end of the task does not release what the function captures.
  ///
  /// Used where nobody else knows the operation, and by the thread that has ended it.
  @exclusivity(unchecked) private var function: Function?

  private struct Function: @unchecked Sendable {  // Called once, by the task.
    let body: @isolated(any) () async throws -> Success
  }

  /// Creates an operation that runs an asynchronous function.
  ///
  /// - Parameter body: What to run. What it throws becomes the operation's ``Operation/error``.
  public init(_ body: sending @escaping @isolated(any) () async throws -> Success) {
    let run = TaskRun()
    let function = Function(body: body)
    task = Task(executorPreference: run) {
      guard !run.isAbandoned else { throw CancellationError() }
      do {
        let value = try await function.body()
        run.note(.success)
        return value
      } catch {
        run.note(error is CancellationError && Task.isCancelled ? .cancelled : .failure(error))
        throw error
      }
    }
    taskRun = run
    self.function = function
    super.init()
    // Of a thread that is in no task, nothing was said.
    let quality = withUnsafeCurrentTask { task in task.map { QualityOfService($0.priority) } ?? .default }
    if quality != .default { qualityOfService = quality }
  }

  deinit {
    if state.current.phase == .pending {
      // The task holds the function too, until its end.
      ReleasedChain.release((AbandonedTask(taskRun), function.take()))
    } else {
      taskRun.abandon()
    }
    // It has the value.
    if !_isPOD(Success.self) { ReleasedChain.release(task.take()) }
  }

  /// Ends a task that has not begun.
  private final class AbandonedTask {
    private let taskRun: TaskRun

    init(_ taskRun: TaskRun) { self.taskRun = taskRun }

    deinit { taskRun.abandon() }
  }

  /// What the function returned.
  ///
  /// Waits as ``OperationExtensions/finished()`` does; does not suspend in an operation that depends on it. When the
  /// task that waits is cancelled the wait ends, and the operation goes on.
  ///
  /// - Throws: What the function threw; a ``DependencyError`` if it did not run because an operation that it required
  ///   to succeed failed; `CancellationError` when the operation was cancelled, or the task that waits is.
  public var value: Success {
    get async throws {
      try await finishedSuccessfully()
      // The task has ended by then: this does not suspend.
      guard let task else { preconditionFailure("an operation is used after it was freed") }
      return try await task.value
    }
  }

  /// True.
  public override var isAsynchronous: Bool { true }

  /// Starts the task, on the calling thread.
  ///
  /// Called once, by ``Operation/start()``.
  public override func main() {
    let queue = ThreadContext.queue
    escalateTask(in: queue)
    taskRun.begin(self, in: queue)
  }

  override func run() { callMain() }

  override var endsWithMain: Bool { false }

  override var mayEndLater: Bool { true }

  // Task-local values go with the end of the task, the function and what it captures by ``releaseWork()``.
  override var isFreedPlainly: Bool { _isPOD(Success.self) }

  override func abandonWork() { taskRun.abandon() }

  override func releaseWork() { function = nil }

  override func cancelWork() { task?.cancel() }

  override func qualityWasRaised() {
    guard state.current.phase == .executing else { return }
    escalateTask(in: queue)
    taskRun.resubmit()
  }

  /// Gives the task the priority that belongs to the operation's quality of service, if that is higher than its own.
  private func escalateTask(in queue: OperationQueue?) {
    guard let priority = effectiveQuality(in: queue?.knownQuality ?? .default).taskPriority else { return }
    task?.escalate(to: priority)
  }
}
