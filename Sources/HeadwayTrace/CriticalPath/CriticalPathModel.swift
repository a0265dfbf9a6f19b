/// The times of a recording, corrected, and the cause of each start.
struct CriticalPathModel {
  /// An operation with times in order: `added` ≤ `ready` ≤ `start` ≤ `end`.
  struct Work {
    let added: Int64
    let ready: Int64
    let start: Int64
    let end: Int64
    let queue: Int?
  }

  /// The reason that an operation started no earlier, and the operation that caused it.
  struct Cause {
    let reason: CriticalPath.WaitReason
    /// When the wait for this reason began.
    let waitStart: Int64
    /// The operation before on the path.
    var predecessor: Int?
    /// When the path leaves the predecessor.
    var predecessorEnd: Int64 = 0
  }

  /// The end of an operation, or of its run.
  struct End {
    let time: Int64
    let operation: Int
  }

  /// Shorter waits are ignored.
  private static let shortestWait: Int64 = 1000

  let recording: TraceRecording
  let extent: Int64
  /// The operations that ran or finished; nil for all other operations.
  let work: [Work?]
  /// The operations of each queue that ended while the queue was full, by their ends.
  private let endsOfFullQueues: [Int: [End]]
  /// The operations whose runs ended on each thread, by their ends.
  private let endsOnThreads: [Int: [End]]

  init(_ recording: TraceRecording) {
    self.recording = recording
    let extent = recording.extent
    self.extent = extent
    work = recording.operations.map { Self.work(of: $0, in: recording, extent: extent) }
    endsOfFullQueues = Self.endsOfFullQueues(recording, work)
    endsOnThreads = Self.endsOnThreads(recording, work, extent: extent)
  }

  private static func work(
    of operation: TraceRecording.Operation, in recording: TraceRecording, extent: Int64
  ) -> Work? {
    let periods = recording.runPeriods(of: operation, extent: extent)
    guard let start = periods.map(\.start).min() ?? operation.finished else { return nil }
    let isUnfinished = operation.runs.contains { $0.end == nil }
    let end = isUnfinished ? extent : operation.finished ?? periods.map(\.end).max() ?? extent
    let period = Period(from: start, to: end)
    let ready = min(max(0, operation.ready ?? operation.added ?? period.start), period.start)
    let added = min(max(0, operation.added ?? ready), ready)
    return Work(
      added: added, ready: ready, start: period.start, end: period.end, queue: recording.queue(of: operation))
  }

  /// Counts the running operations of each queue with a limit and collects those that end while it is full.
  private static func endsOfFullQueues(
    _ recording: TraceRecording, _ work: [Work?]
  ) -> [Int: [End]] {
    // An end precedes a start at the same time, because the end allows the start. The end of an operation that starts
    // at that time, too, follows its start.
    var events: [(time: Int64, order: Int, queue: Int, operation: Int)] = []
    for (position, work) in work.enumerated() {
      guard let work, let queue = work.queue, !recording.operations[position].runs.isEmpty,
        recording.queues[queue].maxConcurrentOperationCount != nil
      else { continue }
      events.append((work.start, 1, queue, position))
      events.append((work.end, work.end == work.start ? 2 : 0, queue, position))
    }
    events.sort { ($0.time, $0.order, $0.operation) < ($1.time, $1.order, $1.operation) }
    var running: [Int: Int] = [:]
    var ends: [Int: [End]] = [:]
    for event in events {
      let count = running[event.queue, default: 0]
      running[event.queue] = event.order == 1 ? count + 1 : count - 1
      if event.order != 1, let limit = recording.queues[event.queue].maxConcurrentOperationCount, count >= limit {
        ends[event.queue, default: []].append(End(time: event.time, operation: event.operation))
      }
    }
    return ends
  }

  private static func endsOnThreads(
    _ recording: TraceRecording, _ work: [Work?], extent: Int64
  ) -> [Int: [End]] {
    var ends: [Int: [End]] = [:]
    for (position, operation) in recording.operations.enumerated() where work[position] != nil {
      for (run, period) in zip(operation.runs, recording.runPeriods(of: operation, extent: extent)) {
        ends[run.thread, default: []].append(End(time: period.end, operation: position))
      }
    }
    return ends.mapValues { $0.sorted { ($0.time, $0.operation) < ($1.time, $1.operation) } }
  }

  /// The reason that an operation started no earlier.
  func cause(of position: Int, _ work: Work) -> Cause {
    let before = causeOfReadiness(of: position, work)
    guard work.start - work.ready >= Self.shortestWait else { return before }
    let slot = work.queue.flatMap { lastEnd(in: endsOfFullQueues[$0], for: position, work) }
    let thread = recording.operations[position].runs.first.flatMap {
      lastEnd(in: endsOnThreads[$0.thread], for: position, work)
    }
    if let slot, let queue = work.queue, slot.time >= thread?.time ?? 0 {
      return Cause(
        reason: .limit(queue: queue), waitStart: work.ready, predecessor: slot.operation, predecessorEnd: slot.time)
    }
    if let thread {
      return Cause(
        reason: .thread, waitStart: slot?.time ?? work.ready, predecessor: thread.operation,
        predecessorEnd: thread.time)
    }
    return Cause(
      reason: .thread, waitStart: work.ready, predecessor: before.predecessor, predecessorEnd: before.predecessorEnd)
  }

  private func causeOfReadiness(of position: Int, _ work: Work) -> Cause {
    var last: (operation: Int, end: Int64)?
    for dependency in recording.dependencies(of: position) {
      guard let other = self.work[dependency], other.end > last?.end ?? -1 else { continue }
      last = (dependency, other.end)
    }
    if let last, last.end >= work.added {
      let end = min(last.end, work.start)
      return Cause(reason: .dependency, waitStart: work.added, predecessor: last.operation, predecessorEnd: end)
    }
    guard let parent = recording.parent(of: position), let other = self.work[parent], other.start <= work.added else {
      return Cause(reason: .added, waitStart: work.added)
    }
    return Cause(
      reason: .added, waitStart: work.added, predecessor: parent, predecessorEnd: min(work.added, other.end))
  }

  /// The last of the ends while an operation was ready and had not started.
  private func lastEnd(in ends: [End]?, for position: Int, _ work: Work) -> End? {
    guard let ends else { return nil }
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle].time <= work.start { low = middle + 1 } else { high = middle }
    }
    guard low > 0, ends[low - 1].time > work.ready, ends[low - 1].operation != position else { return nil }
    return ends[low - 1]
  }

  /// The steps of the path, the earliest first.
  ///
  /// Each step ends no later than the next one starts, and no operation occurs twice, so this ends.
  func steps() -> [CriticalPath.Step] {
    var steps: [CriticalPath.Step] = []
    var visited: Set<Int> = []
    var next = lastOperation.flatMap { position in work[position].map { (position: position, end: $0.end) } }
    while let (position, pathEnd) = next, let work = work[position], visited.insert(position).inserted {
      let cause = cause(of: position, work)
      let start = min(work.start, pathEnd)
      steps.append(
        CriticalPath.Step(
          operation: position, startTime: .nanoseconds(start), endTime: .nanoseconds(pathEnd),
          waitReason: cause.reason, waitDuration: .nanoseconds(max(0, start - cause.waitStart))))
      next = cause.predecessor.map { ($0, min(cause.predecessorEnd, start)) }
    }
    return steps.reversed()
  }

  /// The operation that finished last: among several, the one that started last.
  private var lastOperation: Int? {
    var last: Int?
    for (position, work) in work.enumerated() {
      guard let work else { continue }
      guard let other = last.flatMap({ self.work[$0] }) else {
        last = position
        continue
      }
      if (other.end, other.start) < (work.end, work.start) { last = position }
    }
    return last
  }
}
