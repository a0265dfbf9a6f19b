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
  ///   - missed: The behavior for ticks at which no worker was running.
  ///   - overlap: Whether ticks add jobs while the last job is unfinished.
  ///   - options: The options of each job. A start date and a deadline have no effect.
  ///   - job: The job.
  /// - Throws: ``JobError``, for example with the code ``JobError/Code/payloadTooLarge``. The schedule was not changed.
  /// - Precondition: The name is not empty.
  public func schedule(
    _ name: String, _ schedule: JobSchedule, missed: MissedTicks = .latest, overlap: ScheduleOverlap = .allow,
    options: JobOptions = JobOptions(), job: some Job
  ) async throws {
    require(!name.isEmpty, "A schedule has no name: name it, so that each process sets the same schedule.")
    try NameLength.check(name, "The name of a schedule", NameLength.name)
    var new = try encode(job, options: options)
    // The definition must be the same in all processes.
    new.settings.traceContext = nil
    (new.start, new.deadline) = (nil, nil)
    let definition = ScheduleDefinition(schedule, missed: missed, overlap: overlap, job: new)
    _ = try await backend.perform(.set(definition), on: name)
  }

  /// Adds a job repeatedly: at times of a local clock, or at equal intervals.
  ///
  /// ```swift
  /// try await jobs.schedule("often", .every(.seconds(30))) { Resize(path: "new") }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the schedule.
  ///   - schedule: When jobs are added.
  ///   - missed: The behavior for ticks at which no worker was running.
  ///   - overlap: Whether ticks add jobs while the last job is unfinished.
  ///   - options: The options of each job. A start date and a deadline have no effect.
  ///   - job: Creates the job. It is called once, before the schedule is stored, not for each tick.
  /// - Throws: ``JobError``, or the error of the function. The schedule was not changed.
  public func schedule<Type: Job>(
    _ name: String, _ schedule: JobSchedule, missed: MissedTicks = .latest, overlap: ScheduleOverlap = .allow,
    options: JobOptions = JobOptions(), job: () throws -> Type
  ) async throws {
    try await self.schedule(name, schedule, missed: missed, overlap: overlap, options: options, job: try job())
  }

  /// Returns all schedules of the store, in the order of their names.
  ///
  /// - Returns: The schedules.
  /// - Throws: ``JobError``.
  public func schedules() async throws -> [ScheduleRecord] { try await backend.schedules() }

  /// Stops the ticks of a schedule, in all processes.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Throws: ``JobError``, with the code ``JobError/Code/unknownSchedule`` if there is none with this name.
  public func pauseSchedule(_ name: String) async throws { try await perform(.setPaused(true), on: name) }

  /// Resumes the ticks of a schedule, from now on.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Throws: ``JobError``, with the code ``JobError/Code/unknownSchedule`` if there is none with this name.
  public func resumeSchedule(_ name: String) async throws { try await perform(.setPaused(false), on: name) }

  /// Adds a job of a schedule immediately, even if the schedule is paused or its last job is unfinished.
  ///
  /// The next tick is not affected.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Returns: The number of the job, or of the one that holds its key.
  /// - Throws: ``JobError``, with the code ``JobError/Code/unknownSchedule`` if there is none with this name.
  @discardableResult
  public func runSchedule(_ name: String) async throws -> JobID {
    guard let job = try await perform(.run, on: name).job else {
      misuse(backend.wrongAnswer)
    }
    return job
  }

  /// Deletes a schedule.
  ///
  /// Its jobs remain.
  ///
  /// - Parameter name: The name of the schedule.
  /// - Returns: Whether there was one with this name.
  /// - Throws: ``JobError``.
  @discardableResult
  public func removeSchedule(_ name: String) async throws -> Bool {
    try await backend.perform(.remove, on: name).isFound
  }

  @discardableResult
  private func perform(_ command: ScheduleCommand, on name: String) async throws -> ScheduleAnswer {
    let answer = try await backend.perform(command, on: name)
    guard answer.isFound else {
      throw JobError(.unknownSchedule, "The store has no schedule with the name \(name).")
    }
    return answer
  }
}
