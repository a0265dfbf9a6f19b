import Headway
@_spi(JobStore) public import HeadwayJobs
import HeadwayTestKit

extension JobTest {
  /// Runs the jobs of all queues and moves the ``clock`` each time the next job is due, until no job can run.
  ///
  /// Jobs that these jobs enqueue, scheduled jobs, retries, and the jobs of schedules also run. A job that fails runs
  /// again until it has used all of its attempts. Jobs that miss their deadline are cancelled.
  ///
  /// The clock moves only while no job runs, to the next time when something is due. Therefore, a test of a job with a
  /// delay of an hour is as fast as other tests. A job whose code sleeps on the ``clock`` continues only if the test
  /// moves the clock from another task.
  ///
  /// A job that waits for a signal runs again at the time limit of its wait. To send the signal earlier, drain for
  /// `.zero`, send it, and drain again.
  ///
  /// Because schedules never end, the clock moves by at most `duration`. If something is due later, the clock moves by
  /// `duration`, and ``JobTestReport/nextTime`` is not nil. You can call the function again to continue. If the clock
  /// can't be moved, the function stops when no job can run now.
  ///
  /// Jobs in paused queues, jobs of other kinds, and jobs that wait for such jobs remain as they are. Cancelling the
  /// task stops the function after the operations of its jobs have been cancelled.
  ///
  /// - Parameters:
  ///   - kinds: The types of jobs to run. Jobs of other kinds remain in their queues.
  ///   - duration: How far the clock can move; a day by default.
  /// - Returns: How many jobs and attempts have ended, the failures, and the time of the next job.
  /// - Throws: `JobError` if the store can't be used; `CancellationError` if the task is cancelled. The failure of a
  ///   job is not an error: see ``JobTestReport/failures``.
  /// - Precondition: There is at least one type, each type has its own kind, and the duration is not negative.
  /// - Complexity: O(*n*) in the number of jobs that run. In addition, each move of the clock counts the jobs of the
  ///   store a few times, which is O(*m*) in the number of jobs in some stores. The failed jobs of the store are read
  ///   at the beginning and at the end.
  @discardableResult
  public func drain(_ kinds: any Job.Type..., for duration: Duration = .seconds(86_400)) async throws -> JobTestReport {
    try await drain(kinds: kinds, for: duration)
  }

  /// Runs the jobs of all queues until no job can run, like ``drain(_:for:)``.
  ///
  /// - Parameters:
  ///   - kinds: The types of jobs to run, for example a list that the program also passes to its worker.
  ///   - duration: How far the clock can move; a day by default.
  /// - Returns: How many jobs and attempts have ended, the failures, and the time of the next job.
  /// - Throws: `JobError` if the store can't be used; `CancellationError` if the task is cancelled.
  /// - Precondition: There is at least one type, each type has its own kind, and the duration is not negative.
  @discardableResult
  public func drain(
    kinds: [any Job.Type], for duration: Duration = .seconds(86_400)
  ) async throws -> JobTestReport {
    require(duration >= .zero, "A test drains a store for \(duration): use zero or more.")
    var events = jobs.events(keeping: .max).makeAsyncIterator()
    let (start, cancelledBefore) = (store.now, try await cancelledCount())
    let failedBefore = Set(try await failedJobs().map(\.id))
    var report = JobTestReport()
    while true {
      report.nextTime = try await runDueJobs(kinds)
      guard let manualClock, let next = report.nextTime else { break }
      let (end, isLater) = (start + duration, next - start > duration)
      // Another task might have moved the clock.
      manualClock.advance(by: max(.zero, (isLater ? end : next) - store.now))
      if isLater { break }
    }
    let failed = try await failedJobs().filter { !failedBefore.contains($0.id) }
    try await report.note(events.takeRecorded(), failed: failed, jobs)
    report.cancelledCount = try await cancelledCount() - cancelledBefore
    report.duration = store.now - start
    return report
  }

  /// Runs the jobs of all queues until none can run now.
  ///
  /// - Returns: The time when something is due next.
  private func runDueJobs(_ kinds: [any Job.Type]) async throws -> StoreTime? {
    // The pauses of the worker are real. Otherwise, its beats would wait until the test moves the clock, and would not
    // find out that a job was cancelled.
    let worker = JobWorker(jobs, kinds: kinds, name: "JobTest", clock: ContinuousClock())
    var served: Set<String> = []
    while true {
      try Task.checkCancellation()
      let before = try await jobs.backend.counts()
      let next = try await advance()
      let after = try await jobs.backend.counts()
      let waiting = Set(after.filter { $0.value[.waiting] > 0 }.keys)
      let new = waiting.subtracting(served)
      // The worker has served all queues with waiting jobs until none of these jobs could run. If the store has changed
      // since then, for example because another task has moved the clock, some of them might be able to run now.
      if new.isEmpty, waiting.isEmpty || before == after { return next }
      for queue in new.sorted() { worker.serve(queue, on: operationQueue) }
      served.formUnion(new)
      try await worker.drainWithoutClaimingAhead()
    }
  }

  /// Advances the store until nothing is due.
  private func advance() async throws -> StoreTime? {
    while true {
      guard let next = try await jobs.backend.advance() else { return nil }
      if next > store.now { return next }
    }
  }

  /// Returns all failed jobs, in insertion order.
  private func failedJobs() async throws -> [JobRecord] {
    let (filter, pageSize) = (JobFilter(states: [.failed]), 1_000)
    var found: [JobRecord] = []
    while true {
      let page = try await jobs.backend.jobs(filter, after: found.last?.id, limit: pageSize)
      found += page
      if page.count < pageSize { return found }
    }
  }

  private func cancelledCount() async throws -> Int {
    try await jobs.backend.counts().values.reduce(0) { $0 + $1[.cancelled] }
  }
}
