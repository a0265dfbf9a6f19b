/// A job that runs together with other jobs of its type, in one function call.
///
/// Use a chunk job if a service or a database handles many values at a time faster than one after another.
///
/// ```swift
/// struct Notify: ChunkJob {
///   static let kind: JobKind = "notify"
///   static let chunk = JobChunk(count: 100, wait: .milliseconds(200))
///   typealias Output = Void
///   var device: String
///
///   static func perform(_ jobs: [ChunkEntry<Notify>]) async throws -> [Result<Void, any Error>] {
///     print("notifying", jobs.map(\.job.device))
///     return jobs.map { _ in .success(()) }
///   }
/// }
/// ```
///
/// Declare the `Output`, because the compiler does not infer it from the function.
///
/// A worker claims several jobs of one queue and runs them as one operation, which uses one slot. Each of the jobs is
/// enqueued, limited, cancelled and retried like other jobs, and has its own result, errors and attempts.
///
/// If the process crashes, each job of the chunk counts one crash and returns to its queue. Jobs that were running
/// during a crash run alone, one at a time. Therefore, a job that crashes its process does not make other jobs fail,
/// unless their ``JobOption/maxCrashCount(_:)`` is 1.
public protocol ChunkJob: Job {
  /// How many jobs the worker runs together. The default is up to 100 jobs, without waiting for more.
  static var chunk: JobChunk { get }

  /// Runs several jobs.
  ///
  /// The jobs of one call can have different priorities, attempts and options. The time limit of the call is the
  /// shortest time limit of its jobs. The task is cancelled when all jobs of the call are cancelled. To find out
  /// whether a single job is cancelled, read the property ``JobContext/isCancelled`` of its context.
  ///
  /// A worker does not call ``JobMiddleware/perform(in:next:)`` for these jobs, because it runs around the code of one
  /// job. A job that was running during a crash is an exception, because it runs alone. The worker calls
  /// ``JobMiddleware/didEnd(_:with:error:)`` for each job.
  ///
  /// - Parameter jobs: The jobs, at least one, with their attempts.
  /// - Returns: One result or error per attempt, in the same order. An error can be a ``JobOutcome``. A job with an
  ///   error runs again later, according to its ``JobOption/retry(_:)``.
  /// - Throws: Any error. All jobs of the call then have this error. If the number of results differs from the number
  ///   of jobs, all jobs fail with ``JobError/Code/wrongResultCount``. Return the ``JobSuspension`` of a job as the
  ///   result of that job. If you throw it, the other jobs fail with the same code.
  static func perform(_ jobs: [ChunkEntry<Self>]) async throws -> [Result<Output, any Error>]
}

extension ChunkJob {
  /// Up to 100 jobs.
  public static var chunk: JobChunk { JobChunk(count: 100) }

  /// Runs this job alone.
  ///
  /// - Parameter context: The current attempt of the job.
  /// - Returns: The result of the job.
  /// - Throws: The error of the job, or of the function that runs several jobs.
  public func perform(in context: JobContext) async throws -> Output {
    let results = try await Self.perform([ChunkEntry(self, context)])
    try Self.check(results.count, 1)
    return try results[0].get()
  }

  /// Throws an error unless there is one result per job.
  static func check(_ resultCount: Int, _ jobCount: Int) throws {
    guard resultCount != jobCount else { return }
    throw JobError(
      .wrongResultCount,
      "perform(_:) of the kind \(kind) returned \(resultCount) results for \(jobCount) jobs. Return one result per "
        + "job, in the same order.")
  }
}
