/// A queue runs the jobs of Swift's tasks: what a task does between two suspensions is an operation of the queue.
///
/// ```swift
/// let queue = OperationQueue()
/// queue.maxConcurrentOperationCount = 2
/// let size = try await Task(executorPreference: queue) { try await fetch(addresses[0]).utf8.count }.value
/// ```
///
/// So no more of them run at once than the queue's limit allows, and none while it is suspended. A task that awaits
/// takes no place of the limit; use a ``TaskOperation`` for one that keeps its
/// place. A blocking call in such a task holds up neither other queues nor Swift's own threads.
///
/// *Actors are the exception.* When such a task calls an actor that has no executor of its own, the actor's next job is
/// an operation of this queue, too (SE-0417). While the queue is suspended or full, or while that job waits behind
/// others, the actor waits, and so does every other task that calls the actor. To avoid that, do one of these:
/// - Create the actor with an executor of its own, such as a queue whose order is ``QueueOrder/fifo``
///   (``OperationQueueExtensions/asUnownedSerialExecutor()``).
/// - Call the actor in `withTaskExecutorPreference(globalConcurrentExecutor) { … }`.
/// - Use a ``TaskOperation``: neither a suspension nor the limit holds up its jobs once it has started.
///
/// What the function of such a task captures is released inside its last job. So a `deinit` of a captured object must
/// not wait for this queue, which holds the job until then.
///
/// The jobs are not cancelled with the queue's operations, since a task can't end without them: cancel the task.
extension OperationQueue: TaskExecutor {
  /// Runs a job of a task as an operation of this queue, at the job's priority.
  ///
  /// Called by the runtime of Swift. If the task is escalated later, the queue raises the operation within
  /// milliseconds.
  ///
  /// - Parameter job: The job.
  public final func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job), on: nil) }

  /// Runs a job as an operation of this queue, at the job's priority.
  ///
  /// - Parameters:
  ///   - job: The job.
  ///   - serialExecutor: That of the actor, if it is an actor's.
  final func add(_ job: UnownedJob, on serialExecutor: QueueSerialExecutor?) {
    let quality = QualityOfService(TaskPriority(rawValue: job.priority.rawValue))
    let operation = JobOperation(job, on: self, serialExecutor)
    if quality != .default { operation.qualityOfService = quality }
    add(operation)
    noteJob()
  }
}

/// Runs a job.
private final class JobOperation: Operation, @unchecked Sendable {
  private let job: UnownedJob
  private let executor: OperationQueue
  private let serialExecutor: QueueSerialExecutor?
  /// The task until the job has returned, if the job is that of a task; kept, since the task may end with the job.
  private let task: Guarded<UnsafeCurrentTask?>

  init(_ job: UnownedJob, on executor: OperationQueue, _ serialExecutor: QueueSerialExecutor?) {
    (self.job, self.executor, self.serialExecutor) = (job, executor, serialExecutor)
    task = Guarded(job.task)
  }

  override func main() {
    if let serialExecutor {
      job.runSynchronously(on: serialExecutor.asUnownedSerialExecutor())
    } else {
      job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }
    // Released after the lock.
    let task = task.withLock { $0.take() }
    withExtendedLifetime(task) {}
  }

  override var levelOfTask: Int? { task.withLock { $0.map { QualityOfService($0.priority).level } } }

  /// False: how many jobs a task has, nobody knows.
  override var isUnit: Bool { false }

  /// False: the task would never end.
  override var isCancellable: Bool { false }
}
