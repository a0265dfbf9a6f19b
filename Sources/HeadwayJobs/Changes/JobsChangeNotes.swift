import Headway

/// The jobs and properties that one transaction of a change has changed, for the record of the change.
@_spi(JobStore) public struct JobsChangeNotes: Hashable, Sendable {
  /// The first jobs that were changed, at most ``JobsChangeRecord/maxIDCount``.
  public private(set) var ids: [JobID] = []
  /// The properties that were changed.
  public private(set) var values: [JobsChangeRecord.Value] = []

  /// Creates notes without changes.
  public init() {}

  /// Notes a job that was changed or added.
  public mutating func note(_ id: JobID) {
    if ids.count < JobsChangeRecord.maxIDCount { ids.append(id) }
  }

  /// Notes the values of a property before and after the change; nil if there was, or is, none.
  ///
  /// Nothing is noted if the values are equal.
  public mutating func note(_ name: String, from before: String?, to after: String?) {
    guard before != after else { return }
    values.merge(JobsChangeRecord.Value(name, from: before.map(Self.bounded), to: after.map(Self.bounded)))
  }

  /// Notes a job before and after the change; nil if the job was deleted.
  mutating func note(_ old: JobRecord, _ new: JobRecord?) {
    note(old.id)
    note("state", from: old.state.name, to: new?.state.name)
    guard let new else { return }
    note("cancellation", from: old.isCancelRequested ? "requested" : nil, to: new.isCancelRequested ? "requested" : nil)
    note("priority", from: Self.text(priority: old.priority), to: Self.text(priority: new.priority))
    note("queue", from: old.queue, to: new.queue)
    note("start", from: old.dueTime?.description, to: new.dueTime?.description)
    note("deadline", from: old.deadline?.description, to: new.deadline?.description)
    note("version", from: "\(old.version)", to: "\(new.version)")
    guard old.payload != new.payload else { return }
    note("payload", from: Self.text(old.payload), to: Self.text(new.payload))
  }

  /// Notes a queue before and after the change.
  mutating func note(_ old: JobQueueRecord, _ new: JobQueueRecord) {
    func text(_ number: Int?) -> String? { number.map { "\($0)" } }
    note("paused", from: Self.text(old.isPaused), to: Self.text(new.isPaused))
    let (former, settings) = (old.settings, new.settings)
    note("maximum running", from: text(former.maxRunningJobCount), to: text(settings.maxRunningJobCount))
    note("maximum pending", from: text(former.maxPendingJobCount), to: text(settings.maxPendingJobCount))
    note("maximum failures", from: text(former.maxFailureCount), to: text(settings.maxFailureCount))
    note("aging", from: former.agingInterval.map { "\($0)" }, to: settings.agingInterval.map { "\($0)" })
    note("failures in a row", from: text(old.failureCount), to: text(new.failureCount))
  }

  /// Notes a schedule before and after the change; nil if it does not exist.
  mutating func note(_ old: ScheduleRecord?, _ new: ScheduleRecord?) {
    func note(_ name: String, _ text: (ScheduleRecord) -> String?) {
      self.note(name, from: old.flatMap(text), to: new.flatMap(text))
    }
    note("times") { $0.definition.schedule.description }
    note("paused") { Self.text($0.isPaused) }
    note("kind") { $0.definition.kind.rawValue }
    note("queue") { $0.definition.queue }
    note("missed ticks") { "\($0.definition.missed)" }
    note("overlap") { "\($0.definition.overlap)" }
    note("jitter") { $0.definition.jitter == .zero ? nil : "\($0.definition.jitter)" }
    note("version") { "\($0.definition.job.version)" }
    note("priority") { Self.text(priority: $0.definition.job.priority) }
    note("delay") { $0.definition.job.delay.map { "\($0)" } }
    note("start") { $0.definition.job.startTime?.description }
    note("deadline") { $0.definition.job.deadline?.description }
    note("options") { schedule in
      schedule.definition.job.settings.stored.map { String(decoding: $0, as: UTF8.self) }
    }
    guard old?.definition.job.payload != new?.definition.job.payload else { return }
    note("payload") { Self.text($0.definition.job.payload) }
  }

  /// Returns the text of a payload, or its size if it is not text or too long.
  static func text(_ payload: JobPayload) -> String {
    let size = payload.bytes.count
    guard size <= JobsChangeRecord.maxValueLength, let text = String(validating: payload.bytes, as: UTF8.self) else {
      return Readable.count(size, "byte")
    }
    return text
  }

  private static func text(_ flag: Bool) -> String { flag ? "yes" : "no" }

  private static func text(priority: Int) -> String {
    "\(Headway.Operation.QueuePriority(roundingTowardNormal: priority))"
  }

  private static func bounded(_ text: String) -> String { text.shortened(to: JobsChangeRecord.maxValueLength) }
}

extension JobsChangeRecord {
  /// Adds what another transaction of the same change has changed.
  mutating func add(_ notes: JobsChangeNotes, count: Int) {
    self.count += count
    ids += notes.ids.prefix(Self.maxIDCount - ids.count)
    for value in notes.values { values.merge(value) }
  }
}

extension [JobsChangeRecord.Value] {
  /// Adds the values of a property, up to the maximum of different values.
  fileprivate mutating func merge(_ value: JobsChangeRecord.Value) {
    guard let index = firstIndex(where: { $0.name == value.name }) else { return append(value) }
    self[index].before.merge(value.before)
    self[index].after.merge(value.after)
  }
}

extension [String] {
  fileprivate mutating func merge(_ others: [String]) {
    for other in others where count < JobsChangeRecord.maxValueCount && !contains(other) { append(other) }
  }
}
