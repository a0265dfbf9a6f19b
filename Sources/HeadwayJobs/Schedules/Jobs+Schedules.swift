public import FoundationEssentials
import Headway

extension Jobs {
  /// Adds a job repeatedly: at times of a local clock, or at equal intervals.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// if let zone = TimeZone(identifier: "America/New_York") {
  ///   try await jobs.schedule("nightly", .cron("0 3 * * *", in: zone), job: Resize(path: "new"))
  /// }
  /// ```
  ///
  /// The schedule is stored under its name. Any worker of the store adds the jobs, and each tick adds one job, no
  /// matter how many workers there are. Call this function whenever your program starts. If the times are the same as
  /// before, the last tick remains, so no tick is repeated or lost. If they have changed, new times in the past have no
  /// effect.
  ///
  /// The job is encoded and stored when you call this function, and each tick adds a copy. While a copy runs,
  /// ``JobContext/scheduledDate`` is the time of its tick.
  ///
  /// - Parameters:
  ///   - name: The name of the schedule.
  ///   - schedule: When jobs are added.
  ///   - missed: How to treat ticks that occurred while no worker was running.
  ///   - overlap: Whether ticks add jobs while the last job is unfinished.
  ///   - jitter: The maximum time from a tick until its job is due, to spread the load of schedules with equal times.
  ///     The time is random, but the same in all processes. A delay in the options is added to it.
  ///   - job: The job to add at each tick.
  ///   - options: Options of each job. They take precedence over the options of the type. A start date and a deadline
  ///     have no effect.
  /// - Throws: ``JobError``, for example with the code ``JobError/Code/payloadTooLarge``. The schedule was not changed.
  /// - Precondition: The name is not empty, and the jitter is zero to 100 years.
  public func schedule(
    _ name: String, _ schedule: JobSchedule, missed: MissedTicks = .latest, overlap: ScheduleOverlap = .allow,
    jitter: Duration = .zero, job: some Job, _ options: JobOption...
  ) async throws {
    require(!name.isEmpty, "A schedule has no name: name it, so that each process sets the same schedule.")
    require(
      jitter >= .zero && jitter <= ScheduleTransitions.maxJitter,
      "The schedule \(name) has the jitter \(jitter): use zero to 100 years.")
    try NameLength.check(name, "The name of a schedule", NameLength.name)
    var options = JobOptions(options)
    // A start date would replace the delay of the job's type.
    options.startDate = nil
    var new = try encode(job, options: options)
    // The definition must be the same in all processes.
    new.settings.traceContext = nil
    (new.startTime, new.deadline) = (nil, nil)
    let definition = ScheduleDefinition(schedule, missed: missed, overlap: overlap, jitter: jitter, job: new)
    _ = try await backend.perform(.set(definition), on: name, by: origin())
  }

  /// Returns all schedules of the store, ordered by name.
  ///
  /// - Returns: The schedules, with their definitions and next ticks.
  /// - Throws: ``JobError``.
  public func schedules() async throws -> [ScheduleRecord] { try await backend.schedules() }

  /// Stops the ticks of a schedule, in all processes.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Throws: ``JobError``, with the code ``JobError/Code/unknownSchedule`` if there is none with this name.
  public func pauseSchedule(_ name: String) async throws {
    try await perform(.setPaused(true), on: name, by: origin())
  }

  /// Resumes the ticks of a schedule, from now on.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Throws: ``JobError``, with the code ``JobError/Code/unknownSchedule`` if there is none with this name.
  public func resumeSchedule(_ name: String) async throws {
    try await perform(.setPaused(false), on: name, by: origin())
  }

  /// Adds a job of a schedule immediately, even if the schedule is paused or its last job is unfinished.
  ///
  /// The next tick is not affected.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Returns: The ID of the new job, or of the job that holds its key.
  /// - Throws: ``JobError``, with the code ``JobError/Code/unknownSchedule`` if there is none with this name.
  @discardableResult
  public func runSchedule(_ name: String) async throws -> JobID {
    guard let job = try await perform(.run, on: name, by: origin()).job else {
      misuse(backend.wrongAnswer)
    }
    return job
  }

  /// Adds the missing jobs of past ticks.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// let now = Date.now
  /// try await jobs.backfill("nightly", from: now.addingTimeInterval(-30 * 86_400), to: now)
  /// ```
  ///
  /// Ticks have no job if they occurred before the schedule was set, during a pause, or, depending on
  /// ``ScheduleDefinition/missed``, during an outage. Ticks that were skipped because the last job was unfinished
  /// remain skipped. Each tick adds at most one job, even if you call this function again, in several processes at the
  /// same time, or after its job was deleted. A schedule remembers up to 64 gaps; see ``ScheduleRecord/gaps``. A
  /// schedule with equal intervals has no ticks before it was set, because the first interval begins then.
  ///
  /// The jobs are copies of the schedule's current job. They are added earliest first, regardless of
  /// ``ScheduleDefinition/overlap``. If they must not run at the same time, give the schedule a queue with a limit, or
  /// its job a serial key. Each transaction adds at most ``JobCommand/maxChangedCount`` jobs.
  ///
  /// - Parameters:
  ///   - name: The name of the schedule.
  ///   - start: The beginning of the period, which can be a tick.
  ///   - end: The end of the period, which can be a tick. Ticks in the future are not added.
  /// - Returns: The number of jobs that were added. Jobs whose key another job holds are not counted.
  /// - Throws: `CancellationError` if the task is cancelled between two transactions. In this case, earlier jobs
  ///   remain, and another call continues. Otherwise, a ``JobError``, with the code ``JobError/Code/unknownSchedule``
  ///   if there is no schedule with this name, or ``JobError/Code/undecodablePayload`` if this process does not support
  ///   the schedule's time zone.
  /// - Precondition: The period does not end before it begins.
  @discardableResult
  public func backfill(_ name: String, from start: Date, to end: Date) async throws -> Int {
    require(start <= end, "The schedule \(name) is backfilled from \(start) to \(end): swap the times.")
    let command = ScheduleCommand.backfill(from: StoreTime(start), through: StoreTime(end))
    let origin = try origin()
    var count = 0
    while true {
      let answer = try await perform(command, on: name, by: origin)
      guard let addedCount = answer.addedCount else {
        throw JobError(.undecodablePayload, "This program does not know the time zone of the schedule \(name).")
      }
      count += addedCount
      guard answer.hasMore else { return count }
      try Task.checkCancellation()
    }
  }

  /// Deletes a schedule.
  ///
  /// Its jobs remain. A new schedule with the same name does not remember the earlier ticks, so
  /// ``backfill(_:from:to:)`` adds their jobs again.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Returns: Whether there was one with this name.
  /// - Throws: ``JobError``.
  @discardableResult
  public func removeSchedule(_ name: String) async throws -> Bool {
    try await backend.perform(.remove, on: name, by: origin()).isFound
  }

  @discardableResult
  private func perform(
    _ command: ScheduleCommand, on name: String, by origin: JobsChangeOrigin?
  ) async throws -> ScheduleAnswer {
    let answer = try await backend.perform(command, on: name, by: origin)
    guard answer.isFound else {
      throw JobError(.unknownSchedule, "The store has no schedule with the name \(name).")
    }
    return answer
  }
}
