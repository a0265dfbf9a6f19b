/// Translates a recording to events.
struct ChromeTraceBuilder {
  private let recording: TraceRecording
  private let extent: Int64
  private(set) var events: [ChromeTraceEvent] = []
  /// The slices of the first and of the last run of each operation.
  private var firstSlices: [Slice?]
  private var lastSlices: [Slice?]
  /// The first track of each thread.
  private var tracks: [Int: Int] = [:]
  private var flowCount = 0

  /// Where a run is drawn.
  struct Slice {
    let track: Int
    let period: Period
  }

  private enum Item {
    case run(operation: Int, attempt: Int)
    case span(TraceRecording.Span)
    case blocked(isUnfinished: Bool)
  }

  /// Translates a recording.
  init(_ recording: TraceRecording) {
    self.recording = recording
    extent = recording.extent
    firstSlices = Array(repeating: nil, count: recording.operations.count)
    lastSlices = firstSlices
    events.append(
      ChromeTraceEvent(phase: .metadata, name: "process_name", track: 1, arguments: .init(name: "Headway")))
    addThreads()
    addMarks()
    addWaits()
    addSuspensions()
    addFlows()
  }

  /// Adds the runs and spans of all threads, each thread on as many tracks as it needs.
  private mutating func addThreads() {
    var items: [Int: [(item: Item, period: Period)]] = [:]
    for thread in recording.threads.indices { items[thread] = [] }
    for (position, operation) in recording.operations.enumerated() {
      for (attempt, period) in recording.runPeriods(of: operation, extent: extent).enumerated() {
        items[operation.runs[attempt].thread, default: []]
          .append((.run(operation: position, attempt: attempt + 1), period))
      }
    }
    for span in recording.spans {
      items[span.thread, default: []]
        .append((.span(span), Period(from: span.start, to: span.end ?? extent)))
    }
    for (thread, values) in recording.threads.enumerated() {
      for interval in values.blockedIntervals {
        items[thread, default: []]
          .append(
            (
              .blocked(isUnfinished: interval.end == nil),
              Period(from: interval.start, to: interval.end ?? extent)
            ))
      }
    }
    for mark in recording.marks { items[mark.thread, default: []] += [] }

    var nextTrack = 1
    for (thread, unsorted) in items.sorted(by: { $0.key < $1.key }) {
      let sorted = unsorted.sorted { Period.precedes($0.period, $1.period) }
      let numbers = Tracks.assign(sorted.map(\.period), nests: true)
      let count = (numbers.max() ?? 0) + 1
      tracks[thread] = nextTrack
      for number in 0..<count { addTrack(nextTrack + number, thread: thread, number: number) }
      for (item, number) in zip(sorted, numbers) {
        add(item.item, Slice(track: nextTrack + number, period: item.period))
      }
      nextTrack += count
    }
  }

  private mutating func addTrack(_ track: Int, thread: Int, number: Int) {
    let name = recording.threadName(thread) + (number == 0 ? "" : " (\(number + 1))")
    events.append(ChromeTraceEvent(phase: .metadata, name: "thread_name", track: track, arguments: .init(name: name)))
    events.append(
      ChromeTraceEvent(phase: .metadata, name: "thread_sort_index", track: track, arguments: .init(sortIndex: track)))
  }

  private mutating func add(_ item: Item, _ slice: Slice) {
    switch item {
    case .span(let span):
      add(slice, name: span.name, category: "span", .init(isUnfinished: span.end == nil ? true : nil))
    case .blocked(let isUnfinished):
      add(slice, name: "Blocked", category: "blocked", .init(isUnfinished: isUnfinished ? true : nil))
    case .run(let position, let attempt):
      let operation = recording.operations[position]
      if attempt == 1 { firstSlices[position] = slice }
      if attempt == operation.runs.count { lastSlices[position] = slice }
      add(slice, name: operation.name, category: "operation", arguments(of: operation, attempt: attempt))
    }
  }

  private mutating func add(
    _ slice: Slice, name: String, category: String, _ arguments: ChromeTraceEvent.Arguments
  ) {
    events.append(
      ChromeTraceEvent(
        phase: .complete, name: name, category: category, track: slice.track,
        time: ChromeTraceEvent.microseconds(slice.period.start),
        duration: ChromeTraceEvent.microseconds(slice.period.length), arguments: arguments))
  }

  private func arguments(of operation: TraceRecording.Operation, attempt: Int) -> ChromeTraceEvent.Arguments {
    let run = operation.runs[attempt - 1]
    var arguments = ChromeTraceEvent.Arguments(
      queue: recording.queue(of: operation).map(recording.queueName), attempt: attempt,
      isUnfinished: run.end == nil ? true : nil)
    if attempt == operation.runs.count {
      arguments.result = operation.result?.rawValue
      arguments.error = operation.error
    }
    guard attempt == 1 else { return arguments }
    if let added = operation.added, let ready = operation.ready {
      arguments.dependencyWaitMicroseconds = ChromeTraceEvent.microseconds(Period(from: added, to: ready).length)
    }
    if let ready = operation.ready {
      arguments.queueWaitMicroseconds = ChromeTraceEvent.microseconds(Period(from: ready, to: run.start).length)
    }
    return arguments
  }

  private mutating func addMarks() {
    for mark in recording.marks {
      events.append(
        ChromeTraceEvent(
          phase: .instant, name: mark.name, category: "mark", track: tracks[mark.thread] ?? 1,
          time: ChromeTraceEvent.microseconds(max(0, mark.time.nanoseconds)), scope: "t"))
    }
  }

  /// Adds the time from when each operation was added until it started.
  ///
  /// These events have the name of the queue, not of the operation, because viewers draw a track per name.
  private mutating func addWaits() {
    for (position, operation) in recording.operations.enumerated() {
      guard let added = operation.added ?? operation.ready else { continue }
      let end = operation.runs.first?.start ?? operation.finished ?? extent
      let period = Period(from: added, to: end)
      guard period.length > 0 else { continue }
      let queue = recording.queue(of: operation).map(recording.queueName)
      let name = queue.map { "Waiting in \($0)" } ?? "Waiting"
      for (phase, time) in [(ChromeTraceEvent.Phase.asyncBegin, period.start), (.asyncEnd, period.end)] {
        events.append(
          ChromeTraceEvent(
            phase: phase, name: name, category: "waiting", track: firstSlices[position]?.track ?? 1,
            time: ChromeTraceEvent.microseconds(time), identifier: ChromeTraceEvent.identifier(position + 1),
            arguments: phase == .asyncBegin ? .init(operation: operation.name, queue: queue) : nil))
      }
    }
  }

  /// Adds the periods when queues were suspended.
  private mutating func addSuspensions() {
    var number = recording.operations.count
    for queue in recording.queues.indices {
      let name = recording.queueName(queue)
      for period in recording.suspendedPeriods(ofQueue: queue, extent: extent) where period.length > 0 {
        number += 1
        for (phase, time) in [(ChromeTraceEvent.Phase.asyncBegin, period.start), (.asyncEnd, period.end)] {
          events.append(
            ChromeTraceEvent(
              phase: phase, name: "Suspended: \(name)", category: "suspended", track: 1,
              time: ChromeTraceEvent.microseconds(time), identifier: ChromeTraceEvent.identifier(number),
              arguments: phase == .asyncBegin ? .init(queue: name) : nil))
        }
      }
    }
  }

  private mutating func addFlows() {
    for position in recording.operations.indices {
      guard let target = firstSlices[position] else { continue }
      for dependency in recording.dependencies(of: position) {
        guard let source = lastSlices[dependency] else { continue }
        // A nanosecond before the end, because at the end the slice is no longer open.
        addFlow("dependency", from: source, at: source.period.end - 1, to: target)
      }
      if let parent = recording.parent(of: position), let added = recording.operations[position].added {
        guard let source = slice(of: parent, around: added) else { continue }
        addFlow("added", from: source, at: min(added, source.period.end - 1), to: target)
      }
    }
  }

  /// The slice of an operation's first or last run if it contains a time.
  private func slice(of operation: Int, around time: Int64) -> Slice? {
    [firstSlices[operation], lastSlices[operation]].lazy.compactMap { $0 }
      .first { $0.period.start <= time && time <= $0.period.end }
  }

  /// Adds an arrow, unless it would lead back in time.
  private mutating func addFlow(_ name: String, from source: Slice, at time: Int64, to target: Slice) {
    guard source.period.start <= target.period.start else { return }
    let time = min(max(time, source.period.start), target.period.start)
    flowCount += 1
    for (phase, track, time) in [
      (ChromeTraceEvent.Phase.flowStart, source.track, time), (.flowEnd, target.track, target.period.start),
    ] {
      events.append(
        ChromeTraceEvent(
          phase: phase, name: name, category: name, track: track, time: ChromeTraceEvent.microseconds(time),
          identifier: ChromeTraceEvent.identifier(flowCount), bindingPoint: phase == .flowEnd ? "e" : nil))
    }
  }
}
