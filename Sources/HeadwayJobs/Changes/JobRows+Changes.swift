@_spi(JobStore) extension JobRows {
  /// Changes jobs or a queue, and records the change if it has an author.
  ///
  /// - Parameters:
  ///   - command: The command to execute.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: The number of jobs or queues that were changed.
  public func perform(_ command: JobCommand, by origin: JobsChangeOrigin?) throws -> Int {
    var notes = origin.map { _ in JobsChangeNotes() }
    let count = try perform(command, noting: &notes)
    if let notes, count > 0 { try record(command.action, of: command.subject, count: count, notes, by: origin) }
    return count
  }

  /// Changes a schedule, and records the change if it has an author.
  ///
  /// - Parameters:
  ///   - name: The name of the schedule.
  ///   - command: The change to make.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  public func change(
    _ name: String, _ command: ScheduleCommand, by origin: JobsChangeOrigin?
  ) throws -> ScheduleAnswer {
    guard origin != nil else { return try change(name, command) }
    let old = try readableSchedule(name)
    let answer = try change(name, command)
    var (notes, count) = (JobsChangeNotes(), 1)
    switch command {
    case .set, .setPaused, .remove:
      let new = try readableSchedule(name)
      notes.note(old, new)
      let isRemoved = command == .remove && answer.isFound
      let isSame = old?.definition == new?.definition && old?.isPaused == new?.isPaused
      count = isSame && !isRemoved ? 0 : 1
    case .run:
      if let job = answer.job { notes.note(job) } else { count = 0 }
    case .backfill(let start, let end):
      notes.note("period", from: nil, to: "\(start) to \(end)")
      count = answer.addedCount ?? 0
    }
    if count > 0 { try record(command.action, of: .schedule(name), count: count, notes, by: origin) }
    return answer
  }

  /// Returns a schedule; nil if there is none, or if this process can't read it.
  private func readableSchedule(_ name: String) throws -> ScheduleRecord? {
    do {
      return try schedule(name, orWith: nil)
    } catch let error as JobError where error.code == .undecodablePayload {
      return nil
    }
  }

  /// Records a change by a person in the transaction of the change, or adds to the record of its earlier transactions.
  ///
  /// - Parameters:
  ///   - action: The kind of change.
  ///   - subject: What the person has selected, as far as the transaction knows it.
  ///   - count: The number of jobs, queues, schedules, or error groups that this transaction has changed.
  ///   - notes: The jobs and properties that this transaction has changed.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Throws: An error of the store.
  public func record(
    _ action: JobsChangeRecord.Action, of subject: JobsChangeRecord.Subject, count: Int,
    _ notes: JobsChangeNotes = JobsChangeNotes(), by origin: JobsChangeOrigin?
  ) throws {
    guard let origin else { return }
    let subject = origin.filter.map { .jobs($0) } ?? subject
    var record =
      try findChange(token: origin.token)
      ?? JobsChangeRecord(
        number: 0, time: now, author: origin.author, action: action, subject: subject.bounded, count: 0, ids: [],
        values: [])
    record.add(notes, count: count)
    try write(record, token: origin.token)
  }
}

// Requirements that a store without records need not implement.
@_spi(JobStore) extension JobRows {
  /// Returns nil.
  ///
  /// - Parameter token: The token of a change.
  /// - Returns: No record.
  public func findChange(token: Int64) -> JobsChangeRecord? { nil }

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - change: The record of a change.
  ///   - token: The token of the change.
  public func write(_ change: JobsChangeRecord, token: Int64) {}
}

extension JobsChangeRecord {
  /// The job of a change whose selection is this job alone.
  @_spi(JobStore) public var job: JobID? {
    guard case .jobs(let filter) = subject, let ids = filter.ids, ids.count == 1 else { return nil }
    return ids[0]
  }
}

extension JobsChangeRecord.Subject {
  /// The same object in a limited number of bytes.
  fileprivate var bounded: JobsChangeRecord.Subject {
    guard case .jobs(var filter) = self else { return self }
    let (count, length) = (JobsChangeRecord.maxIDCount, NameLength.name)
    filter.ids = filter.ids.map { Array($0.prefix(count)) }
    filter.queues = filter.queues.map { Set($0.sorted().prefix(count).map { $0.shortened(to: length) }) }
    filter.kinds = filter.kinds.map { kinds in
      let names = kinds.map(\.rawValue).sorted().prefix(count)
      return Set(names.map { JobKind(rawValue: $0.shortened(to: length)) })
    }
    filter.tag = filter.tag?.shortened(to: length)
    filter.label = filter.label?.shortened(to: length)
    filter.payload = filter.payload?.shortened(to: length)
    return .jobs(filter)
  }
}

extension JobCommand {
  fileprivate var action: JobsChangeRecord.Action {
    switch self {
    case .cancel: .cancel
    case .abandon: .abandon
    case .retry: .retry
    case .delete: .delete
    case .change: .change
    case .signal: .signal
    case .setPaused(_, let isPaused): isPaused ? .pauseQueue : .resumeQueue
    case .configure: .configureQueue
    case .setMuted(_, let note, _): note == nil ? .unmuteErrors : .muteErrors
    case .prune: .prune
    }
  }

  fileprivate var subject: JobsChangeRecord.Subject {
    switch self {
    case .setPaused(let queue, _), .configure(let queue, _): .queue(queue)
    case .setMuted(let id, _, _): .errorGroup("\(id)")
    default: filter.map { .jobs($0) } ?? .store
    }
  }
}

extension ScheduleCommand {
  fileprivate var action: JobsChangeRecord.Action {
    switch self {
    case .set: .setSchedule
    case .setPaused(let isPaused): isPaused ? .pauseSchedule : .resumeSchedule
    case .run: .runSchedule
    case .backfill: .backfillSchedule
    case .remove: .removeSchedule
    }
  }
}
