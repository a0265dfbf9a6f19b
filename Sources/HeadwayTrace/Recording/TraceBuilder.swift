import Headway

/// Turns the events of threads into a recording.
struct TraceBuilder {
  private let recorded: RecordedEvents
  private var recording: TraceRecording
  /// The positions of the operations by address.
  ///
  /// The trace keeps their memory, so each address identifies one operation, even if some of its events were lost.
  private var operations: [UInt: Int] = [:]
  private var queues: [UInt: Int] = [:]
  private var spans: [UInt: Int] = [:]
  private var threadsByName: [String: Int] = [:]
  /// The position of the current blocked interval of each worker.
  private var blocked: [UInt: (thread: Int, period: Int)] = [:]

  init(_ recorded: RecordedEvents) {
    self.recorded = recorded
    recording = TraceRecording(
      duration: .nanoseconds(recorded.endTime - recorded.beginTime),
      threads: recorded.threads.map { TraceRecording.Thread(name: $0.name) },
      lostEventCount: recorded.threads.reduce(0) { $0 + $1.lostCount })
  }

  /// Makes the recording.
  mutating func makeRecording() -> TraceRecording {
    var all: [(event: TraceEvent, thread: Int, number: Int)] = []
    for (thread, events) in recorded.threads.enumerated() {
      for (number, event) in events.events.enumerated() { all.append((event, thread, number)) }
    }
    // The clock is the same on all processors. Events of one thread stay in their order.
    all.sort { ($0.event.time, $0.thread, $0.number) < ($1.event.time, $1.thread, $1.number) }
    for (event, thread, _) in all { add(event, thread) }
    for settings in recorded.queues { note(settings) }
    noteReadyTimes()
    return recording
  }

  private mutating func add(_ event: TraceEvent, _ thread: Int) {
    let time = Duration.nanoseconds(Int64(event.time) - Int64(recorded.beginTime))
    switch event.kind {
    case .queue(let settings):
      note(settings)
    case .suspended(let isSuspended): noteSuspension(of: queue(at: event.object), isSuspended, at: time)
    case .added(let type, let queue, let parent):
      let position = makeIfNew(event.object, type)
      // An operation that has ended can be rejected more than once.
      recording.operations[position].addedTime = recording.operations[position].addedTime ?? time
      recording.operations[position].queue = self.queue(at: queue)
      recording.operations[position].parent = parent == 0 ? nil : operations[parent]
    case .named(let name):
      if let position = operations[event.object] { recording.operations[position].name = name }
    case .dependency(let dependency):
      guard let position = operations[event.object] else { break }
      // A dependency that was not added to a queue yet gets its events later.
      let dependency = operations[dependency] ?? make(dependency, "Operation")
      recording.operations[position].dependencies.append(dependency)
    case .started(let type, let queue):
      let position = makeIfNew(event.object, type)
      if queue != 0 { recording.operations[position].queue = self.queue(at: queue) }
      recording.operations[position].runs.append(TraceRecording.Run(startTime: time, thread: thread))
    case .paused: endRun(of: event.object, at: time)
    case .blocked(let name): noteBlocked(event.object, thread: name, at: time)
    case .continued:
      guard let place = blocked.removeValue(forKey: event.object) else { break }
      recording.threads[place.thread].blockedIntervals[place.period].endTime = time
    case .finished(let type, let error, let isCancelled, let wasHeld):
      guard wasHeld || operations[event.object] != nil else { break }
      let position = makeIfNew(event.object, type)
      // The end can be recorded twice. The first time and the last result count.
      endRun(of: event.object, at: time)
      recording.operations[position].finishedTime = recording.operations[position].finishedTime ?? time
      recording.operations[position].result = error != nil ? .failure : isCancelled ? .cancelled : .success
      recording.operations[position].error = error.map { "\($0)" }
    case .spanBegan(let name):
      spans[event.object] = recording.spans.count
      recording.spans.append(TraceRecording.Span(name: name, startTime: time, thread: thread))
    case .spanEnded: if let position = spans[event.object] { recording.spans[position].endTime = time }
    case .mark(let name): recording.marks.append(TraceRecording.Mark(name: name, time: time, thread: thread))
    }
  }

  /// The position of the operation at an address; a new one if it has no events yet.
  private mutating func makeIfNew(_ address: UInt, _ type: Operation.Type) -> Int {
    let name = "\(type)"
    guard let position = operations[address] else { return make(address, name) }
    let operation = recording.operations[position]
    if operation.addedTime == nil, operation.runs.isEmpty { recording.operations[position].name = name }
    return position
  }

  private mutating func make(_ address: UInt, _ name: String) -> Int {
    operations[address] = recording.operations.count
    recording.operations.append(TraceRecording.Operation(name: name))
    return recording.operations.count - 1
  }

  /// The position of the queue at an address.
  private mutating func queue(at address: UInt) -> Int {
    if let position = queues[address] { return position }
    queues[address] = recording.queues.count
    recording.queues.append(TraceRecording.Queue())
    return recording.queues.count - 1
  }

  private mutating func note(_ settings: TraceEvent.QueueSettings) {
    guard let position = queues[settings.address] else { return }
    recording.queues[position].name = settings.name
    recording.queues[position].maxConcurrentOperationCount = settings.limit
  }

  private mutating func noteSuspension(of queue: Int, _ isSuspended: Bool, at time: Duration) {
    let last = recording.queues[queue].suspendedIntervals.indices.last
    let isOpen = last.map { recording.queues[queue].suspendedIntervals[$0].endTime == nil } ?? false
    if isSuspended, !isOpen {
      recording.queues[queue].suspendedIntervals.append(TraceRecording.Interval(startTime: time))
    } else if !isSuspended, isOpen, let last {
      recording.queues[queue].suspendedIntervals[last].endTime = time
    }
  }

  private mutating func noteBlocked(_ worker: UInt, thread name: String, at time: Duration) {
    // A thread that was found blocked can also announce that it blocks.
    let thread = self.thread(named: name)
    guard blocked[worker]?.thread != thread else { return }
    recording.threads[thread].blockedIntervals.append(TraceRecording.Interval(startTime: max(.zero, time)))
    blocked[worker] = (thread, recording.threads[thread].blockedIntervals.count - 1)
  }

  /// The position of a thread, which might have recorded nothing itself.
  private mutating func thread(named name: String) -> Int {
    if threadsByName.isEmpty {
      for (position, thread) in recording.threads.enumerated() { threadsByName[thread.name] = position }
    }
    if let position = threadsByName[name] { return position }
    recording.threads.append(TraceRecording.Thread(name: name))
    threadsByName[name] = recording.threads.count - 1
    return recording.threads.count - 1
  }

  private mutating func endRun(of address: UInt, at time: Duration) {
    guard let position = operations[address], let last = recording.operations[position].runs.indices.last,
      recording.operations[position].runs[last].endTime == nil
    else { return }
    recording.operations[position].runs[last].endTime = time
  }

  /// Operations are ready when they have been added and their last dependency has finished.
  private mutating func noteReadyTimes() {
    for position in recording.operations.indices {
      guard var time = recording.operations[position].addedTime else { continue }
      var isReady = true
      for dependency in recording.operations[position].dependencies {
        guard let end = recording.operations[dependency].finishedTime else {
          isReady = false
          break
        }
        time = max(time, end)
      }
      let end = recording.operations[position].runs.first?.startTime ?? recording.operations[position].finishedTime
      // A dependency might have been removed, or the operation was cancelled.
      if let end { time = min(time, end) }
      if isReady || !recording.operations[position].runs.isEmpty { recording.operations[position].readyTime = time }
    }
  }
}
