/// The events of jobs in a transaction of a store, until the store writes their numbers.
///
/// Events are only appended, so that a job costs little, and a request that fails can be undone.
@_spi(JobStore) public struct JobActivityLog: Sendable {
  /// An event in the life of a job.
  public enum Event: Sendable {
    /// The job was added.
    case enqueued
    /// The job runs again on request.
    case restarted
    /// A worker has claimed the job, which has waited for a number of microseconds.
    case claimed(wait: Int64)
    /// An attempt has ended after a number of microseconds.
    case ran(Int64)
    /// An attempt has ended with an error.
    case failedAttempt
    /// The process of an attempt has died.
    case crashed
    /// The job has ended.
    case ended(JobState)
  }

  private struct Entry {
    let queue: String
    let kind: JobKind
    let event: Event
  }

  private var entries: [Entry] = []

  /// Creates an empty log.
  public init() {}

  /// The number of events.
  public var count: Int { entries.count }

  /// Adds an event.
  mutating func note(_ event: Event, queue: String, kind: JobKind) {
    entries.append(Entry(queue: queue, kind: kind, event: event))
  }

  /// Adds an event of a job.
  mutating func note(_ event: Event, of job: JobRecord) { note(event, queue: job.queue, kind: job.kind) }

  /// Removes the last events, down to a number of events.
  public mutating func truncate(to count: Int) { entries.removeLast(max(0, entries.count - count)) }

  /// Removes all events and returns their sums by queue and kind.
  mutating func take() -> [JobStatistics.Group] {
    var (groups, places, last) = ([JobStatistics.Group](), [JobGroupName: Int](), 0)
    for entry in entries {
      // Most events belong to the same queue and kind as the event before.
      if groups.isEmpty || groups[last].kind != entry.kind || groups[last].queue != entry.queue {
        let name = JobGroupName(queue: entry.queue, kind: entry.kind)
        last = places[name] ?? groups.count
        if last == groups.count {
          places[name] = last
          groups.append(JobStatistics.Group(queue: entry.queue, kind: entry.kind, activity: JobActivity()))
        }
      }
      groups[last].activity.add(entry.event)
    }
    entries = []
    return groups
  }
}

/// The queue and the kind of a group of jobs, compared by their bytes, as in databases.
struct JobGroupName: Hashable {
  let queue: String
  let kind: JobKind

  init(queue: String, kind: JobKind) { (self.queue, self.kind) = (queue, kind) }

  init(_ group: JobStatistics.Group) { self.init(queue: group.queue, kind: group.kind) }

  /// The name for the jobs of all groups that are not counted separately.
  static let rest = JobGroupName(queue: JobStatistics.rest, kind: JobKind(rawValue: JobStatistics.rest))

  static func == (left: JobGroupName, right: JobGroupName) -> Bool {
    left.kind.rawValue.utf8.elementsEqual(right.kind.rawValue.utf8) && left.queue.utf8.elementsEqual(right.queue.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var (queue, kind) = (queue, kind.rawValue)
    queue.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    kind.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Whether the group comes before another one in a list.
  static func < (left: JobGroupName, right: JobGroupName) -> Bool {
    (left.queue, left.kind) < (right.queue, right.kind)
  }
}

extension JobActivity {
  fileprivate mutating func add(_ event: JobActivityLog.Event) {
    switch event {
    case .enqueued: enqueued += 1
    case .restarted: restarted += 1
    case .claimed(let wait): waits.add(microseconds: wait)
    case .ran(let time): runs.add(microseconds: time)
    case .failedAttempt: failedAttempts += 1
    case .crashed: crashes += 1
    case .ended(.succeeded): succeeded += 1
    case .ended(.failed): failed += 1
    case .ended: cancelled += 1
    }
  }
}
