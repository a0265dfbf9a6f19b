/// A queue can run the jobs of Swift tasks: each part of a task between two suspensions is an operation of the queue.
///
/// ```swift
/// let queue = OperationQueue()
/// queue.maxConcurrentOperationCount = 2
/// let size = try await Task(executorPreference: queue) { try await fetch(addresses[0]).utf8.count }.value
/// ```
///
/// The queue's limit and suspension apply to these operations. While a task awaits, it occupies no concurrency slot.
/// For a task that keeps its slot, use a ``TaskOperation``. A blocking call in a task delays neither other queues nor
/// Swift's own threads.
///
/// *Actors are the exception.* When such a task calls an actor that does not have its own executor, the actor's next
/// job is also an operation of this queue (SE-0417). While the queue is suspended or full, or while that job waits
/// behind others, the actor and every other task that calls it must wait. To avoid that, do one of the following:
/// - Give the actor its own executor, such as a queue whose order is ``QueueOrder/fifo``
///   (``OperationQueueProtocol/asUnownedSerialExecutor()``).
/// - Call the actor in `withTaskExecutorPreference(globalConcurrentExecutor) { … }`.
/// - Use a ``TaskOperation``: neither a suspension nor the limit holds up its jobs once it has started.
///
/// Objects that the function of such a task captures are released inside the task's last job. Therefore, a `deinit` of
/// a captured object must not wait for this queue, which holds the job until then.
///
/// The jobs are not cancelled with the queue's operations, because a task can't end without them. To cancel them,
/// cancel the task.
extension OperationQueue: TaskExecutor {
  /// Runs a job of a task as an operation of this queue, at the job's priority.
  ///
  /// The Swift runtime calls this method. If the task is escalated later, the queue raises the operation within
  /// milliseconds.
  ///
  /// - Parameter job: The job to run.
  public final func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job), on: nil) }

  /// Runs a job as an operation of this queue, at the job's priority.
  ///
  /// - Parameters:
  ///   - job: The job to run.
  ///   - serialExecutor: The executor of the actor, if the job belongs to one.
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
  /// The job's task, if it has one, until the job has returned.
  ///
  /// Retained, because the task can end with the job.
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

  /// Always false: the number of a task's jobs is unknown.
  override var isUnit: Bool { false }

  /// Always false: otherwise, the task would never end.
  override var isCancellable: Bool { false }
}
