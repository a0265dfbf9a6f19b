/// A period of a recording, in nanoseconds since the recording began.
///
/// It is never negative and never ends before it starts, even if the times of the recording do.
struct Period: Hashable, Sendable {
  let start: Int64
  let end: Int64

  /// Creates a period and corrects times that are negative or in the wrong order.
  init(from start: Int64, to end: Int64) {
    self.start = max(0, start)
    self.end = max(self.start, end)
  }

  var length: Int64 { end - start }

  /// The time of this period that at least one of the other periods covers.
  func covered(by others: [Period]) -> Int64 {
    Self.covered(others.map { Period(from: max(start, $0.start), to: min(end, $0.end)) })
  }

  /// The time that at least one of the periods covers.
  static func covered(_ periods: [Period]) -> Int64 {
    var (covered, end): (Int64, Int64) = (0, 0)
    for period in periods.sorted(by: Period.precedes) {
      covered += max(0, period.end - max(period.start, end))
      end = max(end, period.end)
    }
    return covered
  }

  /// The order of periods in a drawing: by start; an outer period precedes the periods inside it.
  static func precedes(_ left: Period, _ right: Period) -> Bool { (left.start, right.end) < (right.start, left.end) }
}

extension TraceRecording {
  /// The time of the last event, or of the end of the recording if that is later.
  var extent: Int64 {
    var extent = max(0, duration.nanoseconds)
    for operation in operations {
      for time in [operation.added, operation.ready, operation.finished] { extent = max(extent, time ?? 0) }
      for run in operation.runs { extent = max(extent, run.start, run.end ?? 0) }
    }
    for span in spans { extent = max(extent, span.start, span.end ?? 0) }
    for mark in marks { extent = max(extent, mark.time.nanoseconds) }
    for interval in threads.flatMap(\.blockedIntervals) + queues.flatMap(\.suspendedIntervals) {
      extent = max(extent, interval.start, interval.end ?? 0)
    }
    return extent
  }

  /// The periods when a thread was blocked, in order.
  func blockedPeriods(ofThread position: Int, extent: Int64) -> [Period] {
    guard threads.indices.contains(position) else { return [] }
    return threads[position].blockedIntervals.map { Period(from: $0.start, to: $0.end ?? extent) }
      .sorted(by: Period.precedes)
  }

  /// The periods when a queue was suspended, in order.
  func suspendedPeriods(ofQueue position: Int, extent: Int64) -> [Period] {
    guard queues.indices.contains(position) else { return [] }
    return queues[position].suspendedIntervals.map { Period(from: $0.start, to: $0.end ?? extent) }
      .sorted(by: Period.precedes)
  }

  /// How long the queue of an operation was suspended while the operation waited for it.
  func suspendedWait(of operation: Operation, extent: Int64) -> Int64 {
    guard let wait = queueWait(of: operation, extent: extent), let queue = queue(of: operation) else { return 0 }
    return wait.covered(by: suspendedPeriods(ofQueue: queue, extent: extent))
  }

  /// The periods of the runs of an operation, ordered by attempt.
  ///
  /// A run that never ended lasts until `extent`.
  func runPeriods(of operation: Operation, extent: Int64) -> [Period] {
    operation.runs.map { Period(from: $0.start, to: $0.end ?? extent) }
  }

  /// The period from when an operation was ready, except for its queue, until it started.
  ///
  /// An operation that never started waits until it finished, or until `extent`.
  func queueWait(of operation: Operation, extent: Int64) -> Period? {
    guard let ready = operation.ready else { return nil }
    let end = operation.runs.first?.start ?? operation.finished ?? extent
    return end > max(0, ready) ? Period(from: ready, to: end) : nil
  }

  /// The valid positions of an operation's dependencies, each of them once.
  func dependencies(of position: Int) -> [Int] {
    var seen: Set = [position]
    return operations[position].dependencies.filter { operations.indices.contains($0) && seen.insert($0).inserted }
  }

  /// The valid position of an operation's parent.
  func parent(of position: Int) -> Int? {
    guard let parent = operations[position].parent, operations.indices.contains(parent), parent != position else {
      return nil
    }
    return parent
  }

  /// The valid position of an operation's queue.
  func queue(of operation: Operation) -> Int? {
    operation.queue.flatMap { queues.indices.contains($0) ? $0 : nil }
  }

  /// The name of a queue, or a substitute.
  func queueName(_ position: Int) -> String {
    guard queues.indices.contains(position), let name = queues[position].name, !name.isEmpty else {
      return "Queue \(position + 1)"
    }
    return name
  }

  /// The name of a thread, or a substitute.
  func threadName(_ position: Int) -> String {
    guard threads.indices.contains(position), !threads[position].name.isEmpty else { return "Thread \(position)" }
    return threads[position].name
  }
}
