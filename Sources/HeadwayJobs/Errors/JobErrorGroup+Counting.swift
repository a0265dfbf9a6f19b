@_spi(JobStore) extension JobErrorGroup {
  /// The number of the hour of a time, counted from 1970.
  public static func hour(of time: StoreTime) -> Int64 {
    Int64((Double(time.microseconds) / 3_600_000_000).rounded(.down))
  }

  /// The number that stands for the hours before those in ``hourlyCounts``.
  public static let earlierHours: Int64 = -1

  /// Creates the group of an error, with one attempt that has failed.
  ///
  /// - Parameters:
  ///   - failure: The attempt.
  ///   - now: The time of the store's clock.
  init(_ failure: FailedAttempt, at now: StoreTime) {
    let type = ErrorPattern.typeName(failure.error.type)
    let text = ErrorPattern.pattern(of: failure.error.text)
    self.init(
      id: Self.id(failure.kind, type, text), kind: failure.kind, type: type, text: text, firstSeenTime: now,
      lastSeenTime: now, lastJob: failure.job, count: 1)
  }

  private static func id(_ kind: JobKind, _ type: String, _ text: String) -> ID {
    ID(rawValue: Int64(bitPattern: StableHash.hash("\(kind.rawValue)\0\(type)\0\(text)")))
  }

  /// The group before its first attempt was counted.
  var withoutAttempts: JobErrorGroup {
    var group = self
    group.count = 0
    return group
  }

  /// The group that counts the attempts of this one if the kind has too many groups.
  var other: JobErrorGroup {
    var group = self
    (group.type, group.text) = (Self.otherErrors, "")
    group.id = Self.id(kind, group.type, group.text)
    return group
  }

  /// Adds attempts that have failed.
  ///
  /// - Parameters:
  ///   - count: The number of attempts.
  ///   - hour: The number of the hour when they failed, or ``earlierHours``.
  ///   - time: When the last of them failed.
  ///   - job: The job of the last one.
  ///   - last: The number of the hour of the last element of ``hourlyCounts``.
  public mutating func add(_ count: Int, in hour: Int64, lastAt time: StoreTime, of job: JobID, lastHour last: Int64) {
    self.count += count
    let index = hour - last + Int64(Self.hourCount) - 1
    if hourlyCounts.indices.contains(Int(clamping: index)) { hourlyCounts[Int(index)] += count }
    if (time, job) > (lastSeenTime, lastJob) { (lastSeenTime, lastJob) = (time, job) }
  }

  /// Returns the group with the hours that end with a given one.
  ///
  /// - Parameters:
  ///   - last: The number of the hour of the last element of ``hourlyCounts``.
  ///   - new: The number of the hour of the last element in the new group.
  /// - Returns: The group with its counts in other places.
  public func moved(from last: Int64, to new: Int64) -> JobErrorGroup {
    var group = self
    group.hourlyCounts = (0..<Self.hourCount).map { index in
      let former = Int(clamping: Int64(index) + new - last)
      return hourlyCounts.indices.contains(former) ? hourlyCounts[former] : 0
    }
    return group
  }

  /// Returns the groups that are no longer kept.
  ///
  /// - Parameters:
  ///   - groups: All groups of a store.
  ///   - now: The time of the store's clock.
  /// - Returns: The IDs of groups that were not seen for ``retention``, or that are beyond ``maxCount``.
  static func expired(among groups: [JobErrorGroup], at now: StoreTime) -> [ID] {
    let end = now + (.zero - retention)
    let kept = groups.filter { $0.mute != nil || $0.lastSeenTime > end }
    // Among the groups beyond the limit, muted ones are the last to be deleted.
    let best = kept.sorted { left, right in
      if (left.mute == nil) != (right.mute == nil) { return right.mute == nil }
      return (left.lastSeenTime, left.id) > (right.lastSeenTime, right.id)
    }
    let ids = Set(best.prefix(maxCount).map(\.id))
    return groups.map(\.id).filter { !ids.contains($0) }.sorted()
  }
}

extension JobErrorDescription {
  /// Describes a failure without an error.
  init(_ reason: JobEndReason) { self.init(type: reason.code.rawValue, text: reason.text) }

  /// The end of an attempt whose worker has died.
  static let crash = JobErrorDescription(JobEndReason(.crashed, "The worker died while it ran the job."))
}

extension JobRecord {
  /// Returns the error with which an attempt of the job has failed.
  ///
  /// - Parameter action: How the attempt has ended. The job is the result.
  /// - Returns: The error, or nil if the attempt has not failed.
  func failure(by action: JobEnding.Action) -> JobErrorDescription? {
    switch action {
    case .retry(_, let error): error
    case .fail(let reason, let error): error ?? JobErrorDescription(reason)
    case .snooze: state == .failed ? reason.map { JobErrorDescription($0) } : nil
    case .succeed, .wait, .release, .cancel: nil
    }
  }
}
