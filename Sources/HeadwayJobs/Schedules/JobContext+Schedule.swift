public import FoundationEssentials

extension JobContext {
  /// The time of the tick that added the job; nil if no schedule added it.
  ///
  /// It is the same in all attempts. Use it instead of the current time, which is later, perhaps by hours. For example,
  /// a nightly report uses it to find the day to report. If ``Jobs/runSchedule(_:)`` added the job, it is the time of
  /// that call.
  public var scheduledDate: Date? { job.settings.tick?.time.date }
}
