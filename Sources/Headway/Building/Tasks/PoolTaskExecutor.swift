/// Runs the jobs of tasks on the pool's threads.
///
/// A job that blocks there does not delay other jobs.
final class PoolTaskExecutor: TaskExecutor {
  static let shared = PoolTaskExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    WorkerPool.shared.submit(PoolBlock { job.runSynchronously(on: Self.shared.asUnownedTaskExecutor()) }, count: 1)
  }
}
