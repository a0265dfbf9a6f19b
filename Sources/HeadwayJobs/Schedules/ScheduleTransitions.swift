/// The changes of a schedule, as pure functions that all stores share.
///
/// A store reads the record of a schedule under its lock and calls one of these functions. In the same transaction, it
/// adds the returned jobs in their order, sets ``ScheduleRecord/lastJob`` to the last of them, and writes the record.
@_spi(JobStore) public enum ScheduleTransitions {
  /// A tick that is late by more than this is missed.
  public static let missedAfter = Duration.seconds(60)
  /// The longest jitter: 100 years.
  static let maxJitter = Duration.seconds(36_525 * 86_400)

  /// Processes the ticks that are due.
  ///
  /// - Parameters:
  ///   - schedule: The schedule, which is advanced past the due ticks.
  ///   - isLastJobUnfinished: Whether the last job of the schedule exists and is unfinished.
  ///   - now: The time of the store's clock.
  /// - Returns: The jobs of the ticks.
  public static func tick(
    _ schedule: inout ScheduleRecord, isLastJobUnfinished: Bool, at now: StoreTime
  ) -> [NewJob] {
    guard !schedule.isPaused else { return [] }
    defer { setNext(&schedule, at: now) }
    guard var ticks = schedule.definition.schedule.ticks(from: schedule.anchorTime) else { return [] }
    let definition = schedule.definition
    var limit = 1
    if case .all(let number) = definition.missed, definition.overlap == .allow {
      limit = min(max(number, 1), JobCommand.maxChangedCount)
    }
    // One more than the limit, to determine whether there are earlier ticks.
    let found = ticks.last(limit + 1, after: schedule.decidedTime, through: now)
    guard let latest = found.last else { return [] }
    var due = Array(found.suffix(limit))
    if definition.missed == .none, now - latest > missedAfter { due = [] }
    if found.count > limit || due.isEmpty {
      schedule.gaps.extend(after: schedule.decidedTime, through: due.first.map { $0 + .microseconds(-1) } ?? latest)
    }
    schedule.decidedTime = latest
    schedule.lastTickTime = latest
    guard !due.isEmpty else { return [] }
    if definition.overlap == .skip, isLastJobUnfinished { due = [] }
    return due.map { job(ofTick: $0, of: schedule) }
  }

  /// Creates a schedule, or changes its definition.
  ///
  /// - Parameters:
  ///   - definition: The new definition of the schedule.
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
      var new = ScheduleRecord(name: name, definition: definition, anchorTime: now, decidedTime: now)
      setNext(&new, at: now)
      return (new, [])
    }
    let times = schedule.definition.schedule
    schedule.definition = definition
    var jobs: [NewJob] = []
    if times != definition.schedule {
      schedule.definition.schedule = times
      jobs = tick(&schedule, isLastJobUnfinished: isLastJobUnfinished, at: now)
      skip(&schedule, through: now)
      schedule.definition.schedule = definition.schedule
      schedule.anchorTime = now
    }
    // This process's time zone rules might be newer than the rules that determined the next tick.
    setNext(&schedule, at: now)
    return (schedule, jobs)
  }

  /// Pauses or resumes a schedule.
  ///
  /// - Parameters:
  ///   - schedule: The schedule to change.
  ///   - isPaused: True to pause the schedule, false to resume it.
  ///   - now: The time of the store's clock.
  public static func setPaused(_ schedule: inout ScheduleRecord, _ isPaused: Bool, at now: StoreTime) {
    guard schedule.isPaused != isPaused else { return }
    schedule.isPaused = isPaused
    if !isPaused { skip(&schedule, through: now) }
    setNext(&schedule, at: now)
  }

  /// Returns a job of the schedule.
  ///
  /// - Parameters:
  ///   - schedule: The schedule to add a job for.
  ///   - time: The tick, or the time of the request to run the schedule immediately.
  /// - Returns: A new job with the schedule's payload and options.
  public static func job(of schedule: ScheduleRecord, at time: StoreTime) -> NewJob {
    var job = schedule.definition.job
    job.settings.tick = JobTick(schedule: schedule.name, time: time)
    return job
  }

  /// Returns the job of a tick, which is due after the jitter.
  private static func job(ofTick time: StoreTime, of schedule: ScheduleRecord) -> NewJob {
    var job = job(of: schedule, at: time)
    let jitter = schedule.definition.jitter
    if jitter > .zero {
      let wait = offset(ofTick: time, of: schedule.name, within: jitter)
      (job.startTime, job.delay) = (time + (job.delay ?? .zero) + wait, nil)
    }
    return job
  }

  /// Returns the time from a tick until its job is due.
  ///
  /// The time is random, but the same in all processes.
  ///
  /// - Parameters:
  ///   - time: The time of the tick.
  ///   - name: The name of the schedule.
  ///   - jitter: The maximum; not negative. Fractions of a microsecond are dropped.
  /// - Returns: The time, in whole microseconds.
  public static func offset(ofTick time: StoreTime, of name: String, within jitter: Duration) -> Duration {
    let hash = StableHash.hash("\(name)/\(time.microseconds)")
    let count = UInt64(min(max(jitter, .zero), maxJitter) / .microseconds(1)) + 1
    return .microseconds(Int64(hash.multipliedFullWidth(by: count).high))
  }

  /// Adds the missing jobs of past ticks, earliest first.
  ///
  /// Process all due ticks first.
  ///
  /// - Parameters:
  ///   - schedule: The schedule whose missing jobs are added.
  ///   - start: The beginning of the period, which can be a tick.
  ///   - end: The end of the period, which can be a tick.
  ///   - limit: The maximum number of jobs.
  ///   - now: The time of the store's clock.
  /// - Returns: The jobs, and whether the period has further ticks without a job; nil if this process does not know the
  ///   time zone.
  public static func backfill(
    _ schedule: inout ScheduleRecord, from start: StoreTime, through end: StoreTime, limit: Int, at now: StoreTime
  ) -> (jobs: [NewJob], hasMore: Bool)? {
    guard var ticks = schedule.definition.schedule.ticks(from: schedule.anchorTime) else { return nil }
    if schedule.isPaused { skip(&schedule, through: now) }
    let earliest = max(start + .microseconds(-1), earliestTime)
    var (jobs, gaps, hasMore) = ([NewJob](), [ScheduleGap](), false)
    for gap in schedule.gaps {
      let (begin, last) = (max(gap.after, earliest), min(gap.through, end))
      guard begin < last, !hasMore else {
        gaps.extend(after: gap.after, through: gap.through)
        continue
      }
      gaps.extend(after: gap.after, through: begin)
      var (time, filled) = (begin, last)
      while let next = ticks.next(after: time), next <= last {
        if jobs.count >= limit {
          (filled, hasMore) = (time, true)
          break
        }
        jobs.append(job(ofTick: next, of: schedule))
        time = next
      }
      gaps.extend(after: filled, through: gap.through)
    }
    schedule.gaps = gaps
    return (jobs, hasMore)
  }

  /// The earliest time that time zones support.
  private static let earliestTime = StoreTime(microseconds: Int64(LocalClock.range.lowerBound) * 1_000_000)

  /// Notes that the ticks up to a time add no jobs.
  private static func skip(_ schedule: inout ScheduleRecord, through now: StoreTime) {
    guard schedule.decidedTime < now else { return }
    var ticks = schedule.definition.schedule.ticks(from: schedule.anchorTime)
    let hasTicks = ticks == nil || ticks?.next(after: schedule.decidedTime).map { $0 <= now } ?? false
    if hasTicks { schedule.gaps.extend(after: schedule.decidedTime, through: now) }
    schedule.decidedTime = now
  }

  /// Returns when a process that doesn't support a schedule's definition or time zone checks the schedule again.
  ///
  /// Newer processes might know it. No tick is lost, because the last one remains.
  ///
  /// - Parameter now: The time of the store's clock.
  /// - Returns: One minute after `now`.
  public static func timeToLookAgain(after now: StoreTime) -> StoreTime { now + .seconds(60) }

  private static func setNext(_ schedule: inout ScheduleRecord, at now: StoreTime) {
    guard !schedule.isPaused else {
      schedule.nextTickTime = nil
      return
    }
    guard var ticks = schedule.definition.schedule.ticks(from: schedule.anchorTime) else {
      schedule.nextTickTime = timeToLookAgain(after: now)
      return
    }
    schedule.nextTickTime = ticks.next(after: schedule.decidedTime)
  }
}
