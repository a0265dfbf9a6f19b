import HeadwayTestKit
import HeadwayTrace

// The times of the recordings in these tests are whole nanoseconds.
extension Duration: @retroactive ExpressibleByIntegerLiteral {
  /// Creates a duration of whole nanoseconds.
  public init(integerLiteral nanoseconds: Int64) { self = .nanoseconds(nanoseconds) }
}

extension TraceRecording {
  /// Three operations in a chain and one next to it, on two threads, with a span and a mark.
  static let small = TraceRecording(
    duration: millisecond * 100,
    operations: [
      Operation(
        name: "parse", queue: 0, addedTime: 0, readyTime: 0, runs: [run(0, 30, thread: 0)],
        finishedTime: millisecond * 30, result: .success),
      Operation(
        name: "index", queue: 0, dependencies: [0], addedTime: 0, readyTime: millisecond * 30,
        runs: [run(32, 60, thread: 1)], finishedTime: millisecond * 60, result: .success),
      Operation(
        name: "commit", queue: 1, parent: 1, dependencies: [1], addedTime: millisecond * 40,
        readyTime: millisecond * 60, runs: [run(60, 70, thread: 0), run(80, 95, thread: 1)],
        finishedTime: millisecond * 95, result: .failure, error: "The disk is full"),
      Operation(
        name: "watch", addedTime: millisecond * 5, readyTime: millisecond * 5, runs: [run(10, nil, thread: 0)]),
    ],
    queues: [Queue(name: "work", maxConcurrentOperationCount: 2), Queue(name: "io", maxConcurrentOperationCount: 1)],
    threads: [Thread(name: "worker 1"), Thread(name: "worker 2")],
    spans: [Span(name: "read", startTime: millisecond * 2, endTime: millisecond * 8, thread: 0)],
    marks: [Mark(name: "first byte", time: millisecond * 3, thread: 0)])

  /// The small recording, whose first thread was blocked twice, and whose first queue was suspended twice.
  static let interrupted: TraceRecording = {
    var recording = small
    recording.threads[0].blockedIntervals = [interval(10, 20), interval(90, nil)]
    recording.queues[0].suspendedIntervals = [interval(31, 32), interval(98, nil)]
    return recording
  }()

  static let millisecond = Duration.milliseconds(1)

  private static func interval(_ start: Int64, _ end: Int64?) -> Interval {
    Interval(startTime: millisecond * start, endTime: end.map { millisecond * $0 })
  }

  static func run(_ start: Int64, _ end: Int64?, thread: Int) -> Run {
    Run(startTime: millisecond * start, endTime: end.map { millisecond * $0 }, thread: thread)
  }

  /// An operation with times in milliseconds, on thread 0.
  static func operation(
    _ name: String, queue: Int? = 0, parent: Int? = nil, after dependencies: [Int] = [], added: Int64 = 0,
    ready: Int64? = nil, _ start: Int64, _ end: Int64
  ) -> Operation {
    Operation(
      name: name, queue: queue, parent: parent, dependencies: dependencies, addedTime: millisecond * added,
      readyTime: millisecond * (ready ?? added), runs: [run(start, end, thread: 0)], finishedTime: millisecond * end,
      result: .success)
  }

  /// A name with characters that every format reserves.
  static let strangeName = "a<b> & \"c\" 'd'\n👩‍🚀 </script><!-- \u{1} \u{2028} \\ #`[x]{y};"

  /// A recording of a plausible schedule, with random dependencies, parents, attempts, and results.
  ///
  /// Three queues have limits and one has none. There are eight threads. The operations of the last queue are
  /// asynchronous and start on one thread.
  static func generated(operationCount: Int, seed: UInt64) -> TraceRecording {
    var generator = SeededGenerator(seed: seed)
    var threadsFree = Array(repeating: Duration.zero, count: 8)
    var slots = [2, 4, 6].map { Array(repeating: Duration.zero, count: $0) }
    var operations: [Operation] = []
    for position in 0..<operationCount {
      let queue = Int.random(in: 0..<4, using: &generator)
      let length = Duration.nanoseconds(Int64.random(in: 1_000...4_000_000, using: &generator))
      var operation = Operation(name: "operation \(position)", queue: queue, result: .success)
      let recent = max(0, position - 50)..<max(1, position)
      if position > 0 {
        for _ in 0..<Int.random(in: 0..<3, using: &generator) {
          operation.dependencies.append(Int.random(in: recent, using: &generator))
        }
      }
      var added = Duration.nanoseconds(Int64.random(in: 0...1_000_000, using: &generator))
      if position > 10, Int.random(in: 0..<4, using: &generator) == 0 {
        let parent = Int.random(in: recent, using: &generator)
        operation.parent = parent
        added = operations[parent].runs[0].startTime
      }
      let ends = operation.dependencies.map { operations[$0].finishedTime ?? 0 }
      let ready = max(added, ends.max() ?? 0) + 200
      var start = ready + 3000
      var thread = 8
      if queue < 3 {
        let slot = slots[queue].indices.min { slots[queue][$0] < slots[queue][$1] } ?? 0
        thread = threadsFree.indices.min { threadsFree[$0] < threadsFree[$1] } ?? 0
        start = max(start, slots[queue][slot], threadsFree[thread])
        slots[queue][slot] = start + length
        threadsFree[thread] = start + length
      }
      (operation.addedTime, operation.readyTime, operation.finishedTime) = (added, ready, start + length)
      operation.runs = [Run(startTime: start, endTime: start + length, thread: thread)]
      switch Int.random(in: 0..<50, using: &generator) {
      case 0: (operation.result, operation.error) = (.failure, "It failed")
      case 1: operation.result = .cancelled
      case 2:
        operation.runs = [
          Run(startTime: start, endTime: start + length / 3, thread: thread),
          Run(startTime: start + length / 2, endTime: start + length, thread: thread),
        ]
      default: break
      }
      operations.append(operation)
    }
    let end = operations.lazy.compactMap(\.finishedTime).max() ?? 0
    return TraceRecording(
      duration: end + 1_000_000, operations: operations,
      queues: [2, 4, 6, nil].enumerated().map { Queue(name: "queue \($0)", maxConcurrentOperationCount: $1) },
      threads: (0...8).map { Thread(name: "worker \($0)") })
  }

  /// A recording with random times and positions, many of them impossible.
  static func random(seed: UInt64) -> TraceRecording {
    var generator = SeededGenerator(seed: seed)
    var time: Duration {
      let times: [Int64] = [Int64.min, -1, 0, 0, 1, 7, 1_000_000, 1_000_000_000, .max]
      return .nanoseconds(
        Bool.random(using: &generator)
          ? Int64.random(in: -50_000_000...2_000_000_000, using: &generator)
          : times.randomElement(using: &generator) ?? 0)
    }
    var maybeTime: Duration? { Int.random(in: 0..<4, using: &generator) == 0 ? nil : time }
    var position: Int { Int.random(in: -1...12, using: &generator) }
    var maybePosition: Int? { Bool.random(using: &generator) ? nil : position }
    var thread: Int { Int.random(in: -1...3, using: &generator) }
    let results: [Result?] = [.success, .failure, .cancelled, nil]
    let operations = (0..<10).map { _ in
      Operation(
        name: Bool.random(using: &generator) ? strangeName : "", queue: maybePosition, parent: maybePosition,
        dependencies: (0..<Int.random(in: 0..<4, using: &generator)).map { _ in position }, addedTime: maybeTime,
        readyTime: maybeTime,
        runs: (0..<Int.random(in: 0..<3, using: &generator)).map { _ in
          Run(startTime: time, endTime: maybeTime, thread: thread)
        },
        finishedTime: maybeTime, result: results.randomElement(using: &generator) ?? nil, error: strangeName)
    }
    let intervals = (0..<4).map { _ in Interval(startTime: time, endTime: maybeTime) }
    return TraceRecording(
      duration: time, operations: operations,
      queues: [
        Queue(name: strangeName, maxConcurrentOperationCount: 1, suspendedIntervals: intervals),
        Queue(maxConcurrentOperationCount: 0), Queue(),
      ],
      threads: [Thread(name: strangeName, blockedIntervals: intervals.reversed()), Thread(name: "")],
      spans: [Span(name: strangeName, startTime: time, endTime: maybeTime, thread: thread)],
      marks: [Mark(name: strangeName, time: time, thread: thread)], lostEventCount: 3)
  }
}
