/// The changes of a schedule, as pure functions that all stores share.
///
/// A store reads the record of a schedule under its lock, and calls one of these functions. In the same transaction, it
/// adds the returned jobs in their order, sets ``ScheduleRecord/lastJob`` to the last of them, and writes the record.
@_spi(JobStore) public enum ScheduleTransitions {
  /// A tick that is late by more than this is missed.
  public static let missedAfter = Duration.seconds(60)

  /// Processes the ticks that are due.
  ///
  /// - Parameters:
  ///   - schedule: The schedule.
  ///   - isLastJobUnfinished: Whether the last job of the schedule exists and is unfinished.
  ///   - now: The time of the store's clock.
  /// - Returns: The jobs of the ticks.
  public static func tick(
    _ schedule: inout ScheduleRecord, isLastJobUnfinished: Bool, at now: StoreTime
  ) -> [NewJob] {
    guard !schedule.isPaused else { return [] }
    defer { setNext(&schedule, at: now) }
    guard var ticks = schedule.definition.schedule.ticks(from: schedule.anchor) else { return [] }
    let definition = schedule.definition
    var limit = 1
    if case .all(let number) = definition.missed { limit = min(max(number, 1), JobCommand.maxChangedCount) }
    var due = ticks.last(limit, after: schedule.decided, through: now)
    guard let latest = due.last else { return [] }
    schedule.decided = latest
    schedule.lastTick = latest
    if definition.missed == .none, now - latest > missedAfter { return [] }
    if definition.overlap == .skip { due = isLastJobUnfinished ? [] : [latest] }
    return due.map { job(of: schedule, at: $0) }
  }

  /// Creates a schedule, or changes its definition.
  ///
  /// - Parameters:
  ///   - definition: The definition.
  ///   - name: The name of the schedule.
  ///   - old: The schedule, if there is one.
  ///   - isLastJobUnfinished: Whether the last job of the schedule exists and is unfinished.
  ///   - now: The time of the store's clock.
  /// - Returns: The schedule, and the jobs of ticks that were due before the change.
  public static func set(
    _ definition: ScheduleDefinition, name: String, replacing old: ScheduleRecord?, isLastJobUnfinished: Bool,
    at now: StoreTime
  ) -> (schedule: ScheduleRecord, jobs: [NewJob]) {
    guard var schedule = old else {
      var new = ScheduleRecord(name: name, definition: definition, anchor: now, decided: now)
      setNext(&new, at: now)
      return (new, [])
    }
    let times = schedule.definition.schedule
    schedule.definition = definition
    var jobs: [NewJob] = []
    if times != definition.schedule {
      schedule.definition.schedule = times
      jobs = tick(&schedule, isLastJobUnfinished: isLastJobUnfinished, at: now)
      schedule.definition.schedule = definition.schedule
      schedule.anchor = now
      schedule.decided = max(schedule.decided, now)
    }
    // The rules of the time zone might be newer than those of the process that computed the next tick.
    setNext(&schedule, at: now)
    return (schedule, jobs)
  }

  /// Pauses or resumes a schedule.
  ///
  /// - Parameters:
  ///   - schedule: The schedule.
  ///   - isPaused: True to pause the schedule, false to resume it.
  ///   - now: The time of the store's clock.
  public static func setPaused(_ schedule: inout ScheduleRecord, _ isPaused: Bool, at now: StoreTime) {
    guard schedule.isPaused != isPaused else { return }
    schedule.isPaused = isPaused
    if !isPaused { schedule.decided = max(schedule.decided, now) }
    setNext(&schedule, at: now)
  }

  /// Returns a job of the schedule.
  ///
  /// - Parameters:
  ///   - schedule: The schedule.
  ///   - time: The tick, or the time of the request to run the schedule immediately.
  /// - Returns: The job.
  public static func job(of schedule: ScheduleRecord, at time: StoreTime) -> NewJob {
    var job = schedule.definition.job
    job.settings.tick = JobTick(schedule: schedule.name, time: time)
    return job
  }

  /// Returns when a process checks a schedule again whose definition or time zone it does not know.
  ///
  /// Newer processes might know it. No tick is lost, because the last one remains.
  ///
  /// - Parameter now: The time of the store's clock.
  /// - Returns: The time.
  public static func timeToLookAgain(after now: StoreTime) -> StoreTime { now + .seconds(60) }

  private static func setNext(_ schedule: inout ScheduleRecord, at now: StoreTime) {
    guard !schedule.isPaused else {
      schedule.next = nil
      return
    }
    guard var ticks = schedule.definition.schedule.ticks(from: schedule.anchor) else {
      schedule.next = timeToLookAgain(after: now)
      return
    }
    schedule.next = ticks.next(after: schedule.decided)
  }
}
