/// A period whose ticks have added no jobs.
///
/// ``Jobs/backfill(_:from:to:)`` can add these jobs.
///
/// A gap exists before the schedule was set, while it was paused, and where ticks were missed.
public struct ScheduleGap: Hashable, Codable, Sendable {
  /// All ticks of the period are later than this time.
  public var after: StoreTime
  /// The end of the period, which can be a tick.
  public var through: StoreTime

  /// Creates a period.
  ///
  /// - Parameters:
  ///   - after: All ticks of the period are later than this time.
  ///   - through: The end of the period, which can be a tick.
  @_spi(JobStore) public init(after: StoreTime, through: StoreTime) {
    self.after = after
    self.through = through
  }

  /// The maximum number of gaps of a schedule.
  ///
  /// If there are more, the earliest gap is forgotten.
  ///
  /// The ticks of a forgotten gap can no longer be added. A tick is never added twice.
  static let maxCount = 64

  // MARK: Storing

  /// The stored form of several gaps: the beginning and end of each gap, in microseconds since 1970.
  ///
  /// - Parameter gaps: The periods, in their order.
  /// - Returns: The text, for example `-60/0 120/180`.
  @_spi(JobStore) public static func stored(_ gaps: [ScheduleGap]) -> String {
    gaps.map { "\($0.after.microseconds)/\($0.through.microseconds)" }.joined(separator: " ")
  }

  /// Reads the stored form.
  ///
  /// - Parameter text: The result of ``stored(_:)``.
  /// - Returns: The periods, without parts that can't be read, so that no tick is added twice.
  @_spi(JobStore) public static func gaps(stored text: String) -> [ScheduleGap] {
    text.split(separator: " ").compactMap { part in
      let ends = part.split(separator: "/").compactMap { Int64($0) }
      guard ends.count == 2 else { return nil }
      return ScheduleGap(after: StoreTime(microseconds: ends[0]), through: StoreTime(microseconds: ends[1]))
    }
  }
}

extension [ScheduleGap] {
  /// Adds a gap at the end, or extends the last gap if the two touch.
  mutating func extend(after start: StoreTime, through end: StoreTime) {
    guard start < end else { return }
    if let last, last.through >= start {
      self[count - 1].through = Swift.max(last.through, end)
    } else {
      append(ScheduleGap(after: start, through: end))
      if count > ScheduleGap.maxCount { removeFirst() }
    }
  }
}
