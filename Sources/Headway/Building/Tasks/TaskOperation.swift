/// An operation that runs an asynchronous function and has a value.
///
/// ```swift
/// let page = queue.addTask { try await fetch(addresses[0]) }
/// let image = queue.addTask(.dependingOn(page)) { try await render(page.value) }
/// let png = try await image.value
/// ```
///
/// The operation keeps its concurrency slot from start to end and holds no thread while it awaits. Between two
/// suspensions, it runs on the threads of its queue, so a call that blocks there delays neither other operations nor
/// Swift's own threads. Work that is isolated to an actor with its own executor runs there. Other actors also run on
/// the threads of the queue. A call that blocks inside such an actor delays its other callers.
///
/// The operation creates its task when it is created. The task has the task-local values and the priority of its
/// creator.
///
/// Priorities are passed on in both directions. A task operation takes its ``Operation/qualityOfService`` from the
/// priority of the task that creates it, unless that is `.medium`, which counts as unspecified. A task with any other
/// priority that waits for the operation raises it to that priority. The operation's task has at least the priority
/// that matches the operation's current quality of service, even if more urgent work begins to wait for it later.
///
/// Cancellation is also passed on in both directions. Cancelling the operation cancels its task. If the task is
/// cancelled from inside and ends with a `CancellationError`, the operation counts as cancelled.
public final class TaskOperation<Success: Sendable>: Operation, @unchecked Sendable {
  // The properties that do not change refer to objects that protect themselves.
  private let taskRun: TaskRun
  /// Not nil until the operation is freed.
  @exclusivity(unchecked) private var task: Task<Success, any Error>?
  /// Kept until the operation has ended, so that the end of the task does not release the captures of the function.
  ///
  /// Accessed only while no other thread has a reference to the operation, and by the thread that has ended it.
  @exclusivity(unchecked) private var body: TaskBody<Success>?

  /// Creates an operation that runs an asynchronous function.
  ///
  /// ```swift
  /// let page = TaskOperation("load", .retry(.exponential(maxAttemptCount: 5))) { try await fetch(addresses[0]) }
  /// ```
  ///
  /// - Parameters:
  ///   - options: The name, the priority, the policy and the dependencies of the operation. A string literal is its
  ///     name.
  ///   - body: The function to run. An error that it throws becomes the operation's ``Operation/error``. If the
  ///     function is repeated, this is the error of the last attempt.
  public convenience init(
    _ options: OperationOption..., operation body: sending @escaping @isolated(any) () async throws -> Success
  ) {
    self.init(TaskBody.function(body), options)
  }

  /// Creates an operation that runs an asynchronous function, which receives the number of the attempt.
  ///
  /// - Parameters:
  ///   - options: The name, the priority, the policy and the dependencies of the operation.
  ///   - body: The function to run. It receives the number of the attempt, from 1.
  public convenience init(
    _ options: OperationOption...,
    operation body: sending @escaping @isolated(any) (_ attempt: Int) async throws -> Success
  ) {
    self.init(TaskBody.functionOfAttempt(body), options)
  }

  init(_ body: TaskBody<Success>, _ options: [OperationOption]) {
    let run = TaskRun()
    task = Task(executorPreference: run) { try await run.call(body) }
    taskRun = run
    self.body = body
    super.init()
    let quality = QualityOfService.ofCurrentTask
    if quality != .default { qualityOfService = quality }
    if !options.isEmpty { OperationSettings(options).configure(self) }
  }

  /// The number of the current or last attempt, from 1; 0 if the operation has not started, or never repeats its
  /// function.
  public var attempt: Int { timedGate?.attempts?.number ?? 0 }

  /// The errors of the attempts that have failed so far, in order.
  public var attemptErrors: [any Error] { timedGate?.attempts?.errors ?? [] }

  deinit {
    if state.current.phase == .pending {
      // The task also retains the function until it ends.
      ReleasedChain.release((AbandonedTask(taskRun), body.take()))
    } else {
      taskRun.abandon()
    }
    // The task holds the value.
    if !_isPOD(Success.self) { ReleasedChain.release(task.take()) }
  }

  /// Ends a task that has not begun, when this object is released.
  private final class AbandonedTask {
    private let taskRun: TaskRun

    init(_ taskRun: TaskRun) { self.taskRun = taskRun }

    deinit { taskRun.abandon() }
  }

  /// The value that the function returned.
  ///
  /// Waits like ``OperationProtocol/untilFinished()``, but does not suspend in an operation that depends on this one.
  /// If the waiting task is cancelled, the wait ends and the operation continues.
  ///
  /// - Throws: The error that the function threw; a ``DependencyError`` if the function did not run because a required
  ///   dependency failed; `CancellationError` if the operation or the waiting task was cancelled.
  public var value: Success {
    get async throws {
      try await untilSucceeded()
      // The task has ended by now, so this does not suspend.
      guard let task else { misuse("\(self) was used after it was freed.") }
      return try await task.value
    }
  }

  /// Always true for this class.
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

  // Task-local values are released at the end of the task. ``releaseWork()`` releases the function and its captures.
  override var isFreedPlainly: Bool { _isPOD(Success.self) }

  override func abandonWork() { taskRun.abandon() }

  override func releaseWork() { body = nil }

  override func cancelWork() { task?.cancel() }

  override func qualityWasRaised() {
    guard state.current.phase == .executing else { return }
    escalateTask(in: queue)
    taskRun.resubmit()
  }

  /// Raises the task to the priority that matches the operation's quality of service, if that is higher than its own.
  private func escalateTask(in queue: OperationQueue?) {
    guard let priority = effectiveQuality(in: queue?.knownQuality ?? .default).taskPriority else { return }
    task?.escalate(to: priority)
  }
}

extension TaskOperation: RepeatingOperation {}

extension QualityOfService {
  /// The quality of service that matches the priority of the current task.
  ///
  /// The priority of a thread that is not in a task is unspecified.
  static var ofCurrentTask: Self { withUnsafeCurrentTask { $0.map { Self($0.priority) } ?? .default } }
}

/// The function of a task operation.
enum TaskBody<Success: Sendable>: @unchecked Sendable {  // Called by the operation's task, once at a time.
  case function(@isolated(any) () async throws -> Success)
  case functionOfAttempt(@isolated(any) (_ attempt: Int) async throws -> Success)

  func run(_ attempt: Int) async throws -> Success {
    switch self {
    case .function(let function): try await function()
    case .functionOfAttempt(let function): try await function(attempt)
    }
  }
}
