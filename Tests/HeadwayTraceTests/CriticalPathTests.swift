import HeadwayTrace
import Testing

@Suite("Critical path", .hangLimit) struct CriticalPathTests {
  private typealias Recording = TraceRecording
  private static let millisecond = TraceRecording.millisecond

  private func path(
    of operations: [TraceRecording.Operation], limits: [Int?] = [nil], duration: Int64 = 100
  ) throws -> (names: [String], path: CriticalPath) {
    let recording = TraceRecording(
      duration: Self.millisecond * duration, operations: operations,
      queues: limits.enumerated().map { .init(name: "queue \($0)", maxConcurrentOperationCount: $1) },
      threads: [.init(name: "worker")])
    let path = try #require(recording.criticalPath())
    check(path, recording)
    return (path.steps.map { operations[$0.operation].name }, path)
  }

  /// Checks the rules that apply to every path.
  private func check(_ path: CriticalPath, _ recording: TraceRecording) {
    #expect(!path.steps.isEmpty)
    #expect(Set(path.steps.map(\.operation)).count == path.steps.count)
    #expect(path.runDuration <= path.recordingDuration)
    var end = Duration.zero
    for step in path.steps {
      #expect(recording.operations.indices.contains(step.operation))
      #expect(end <= step.startTime && step.startTime <= step.endTime && step.endTime <= path.recordingDuration)
      #expect(step.waitDuration >= 0 && step.waitDuration <= step.startTime)
      end = step.endTime
    }
    if let limit = path.longestLimit {
      #expect(recording.queues.indices.contains(limit.queue))
      #expect(limit.waitDuration >= 0 && limit.waitDuration <= path.recordingDuration)
      #expect(limit.possibleSaving >= 0 && limit.possibleSaving <= path.recordingDuration)
    }
    #expect(!path.description.contains("\n"))
  }

  @Test("A chain of dependencies is the path, and shorter branches are not") func chain() throws {
    let (names, path) = try path(of: [
      Recording.operation("parse", 0, 30),
      Recording.operation("short", 0, 20),
      Recording.operation("index", after: [1, 0], ready: 30, 30, 60),
      Recording.operation("commit", after: [2], ready: 60, 60, 90),
      Recording.operation("other", 0, 89),
    ])
    #expect(names == ["parse", "index", "commit"])
    #expect(path.steps.map(\.waitReason) == [.added, .dependency, .dependency])
    #expect(path.steps.map(\.waitDuration) == [.zero, .milliseconds(30), .milliseconds(60)])
    #expect(path.runDuration == Self.millisecond * 90)
    #expect(path.longestLimit == nil)
    #expect(path.description == "90% of the 100 ms is work on the path parse → index → commit.")
  }

  @Test("A wait for a suspended queue is described") func suspension() throws {
    var recording = TraceRecording(
      duration: Self.millisecond * 100,
      operations: [Recording.operation("load", 0, 30), Recording.operation("save", after: [0], ready: 30, 70, 90)],
      queues: [.init(name: "disk")], threads: [.init(name: "worker")])
    recording.queues[0].suspendedIntervals = [
      .init(startTime: Self.millisecond * 20, endTime: Self.millisecond * 65)
    ]
    let path = try #require(recording.criticalPath())
    check(path, recording)
    #expect(path.description.hasSuffix("For 35 ms, an operation on this path waited because “disk” was suspended."))
    recording.queues[0].suspendedIntervals = []
    #expect(try !#require(recording.criticalPath()).description.contains("suspended"))
  }

  @Test("An operation that waited for its queue's limit follows the operation whose end allowed it to start")
  func limit() throws {
    let (names, path) = try path(
      of: [
        Recording.operation("first", 0, 40),
        Recording.operation("second", 0, 50),
        Recording.operation("third", 40, 100),
      ], limits: [2])
    #expect(names == ["first", "third"])
    #expect(path.steps[1].waitReason == .limit(queue: 0))
    #expect(path.steps[1].waitDuration == Self.millisecond * 40)
    #expect(
      path.longestLimit
        == .init(
          queue: 0, waitDuration: Self.millisecond * 40, possibleSaving: Self.millisecond * 40))
    #expect(
      path.description == """
        100% of the 100 ms is work on the path first → third. For 40 ms, operations on this path waited because \
        “queue 0” was at its limit (2). Without that limit, the last operation could finish at most 40 ms earlier.
        """)
  }

  @Test("The duration of another path limits the time that could be saved") func saving() throws {
    let (names, path) = try path(
      of: [
        Recording.operation("first", 0, 40),
        Recording.operation("second", 40, 100),
        Recording.operation("elsewhere", queue: 1, 0, 90),
      ], limits: [1, nil])
    #expect(names == ["first", "second"])
    #expect(path.longestLimit?.possibleSaving == Self.millisecond * 10)
  }

  @Test("Waits of consecutive operations for a limit count once") func chainOfLimits() throws {
    let operations = (0..<10).map { Recording.operation("\($0)", Int64($0) * 10, Int64($0) * 10 + 10) }
    let (names, path) = try path(of: operations, limits: [1])
    #expect(names == operations.map(\.name))
    #expect(
      path.longestLimit
        == .init(
          queue: 0, waitDuration: Self.millisecond * 90, possibleSaving: Self.millisecond * 90))
    #expect(path.description.contains("the path 0 → 1 → 2 → (4 more) → 7 → 8 → 9."))
  }

  @Test("An operation follows the operation that added it, and the path leaves the latter at the time of adding")
  func parent() throws {
    let (names, path) = try path(of: [
      Recording.operation("parent", 0, 50),
      Recording.operation("child", parent: 0, added: 40, 40, 100),
    ])
    #expect(names == ["parent", "child"])
    #expect(path.steps.map(\.endTime) == [Self.millisecond * 40, Self.millisecond * 100])
    #expect(path.steps[1].waitReason == .added)
  }

  @Test("A dependency that finished before the operation was added does not determine its start")
  func lateAddition() throws {
    let (names, path) = try path(of: [
      Recording.operation("dependency", 0, 20),
      Recording.operation("parent", 0, 60),
      Recording.operation("child", parent: 1, after: [0], added: 50, 50, 100),
    ])
    #expect(names == ["parent", "child"])
    #expect(path.steps[1].waitReason == .added)
  }

  @Test("An operation that was added late by no other operation begins the path") func addedLate() throws {
    let (names, path) = try path(of: [
      Recording.operation("early", 0, 20), Recording.operation("late", added: 60, 60, 100),
    ])
    #expect(names == ["late"])
    #expect(
      path.description == """
        40% of the 100 ms is work on late. “late” started 60 ms after the beginning.
        """)
  }

  @Test("Without a full queue, an operation that is ready waits for a thread") func thread() throws {
    let (names, path) = try path(
      of: [
        Recording.operation("before", 0, 30),
        Recording.operation("after", after: [0], ready: 30, 70, 100),
      ], limits: [4])
    #expect(names == ["before", "after"])
    #expect(path.steps[1].waitReason == .thread)
    #expect(path.steps[1].waitDuration == Self.millisecond * 40)
    #expect(path.description.hasSuffix("For 40 ms, “after” was ready, but was not started."))
  }

  @Test("An operation that waited for a busy thread follows the operation that ran on the thread")
  func busyThread() throws {
    let (names, path) = try path(
      of: [
        Recording.operation("before", 0, 70),
        Recording.operation("after", queue: 1, 70, 100),
      ], limits: [1, 4])
    #expect(names == ["before", "after"])
    #expect(path.steps[1].waitReason == .thread)
    #expect(path.steps[1].waitDuration == Self.millisecond * 70)
  }

  @Test("Limits of several queues: the longest wait is reported") func severalQueues() throws {
    let (names, path) = try path(
      of: [
        Recording.operation("a", queue: 0, 0, 10),
        Recording.operation("b", queue: 0, 10, 40),
        Recording.operation("c", queue: 1, 0, 70),
        Recording.operation("d", queue: 1, after: [1], ready: 40, 70, 100),
        Recording.operation("e", queue: 1, after: [1], ready: 40, 70, 99),
      ], limits: [1, 1])
    #expect(names == ["c", "d"])
    #expect(path.longestLimit?.queue == 1)
    #expect(path.longestLimit?.waitDuration == Self.millisecond * 30)
  }

  @Test("If several operations finish last, the operation that started last ends the path") func equalTimes() throws {
    #expect(
      try path(of: [
        Recording.operation("long", 0, 100), Recording.operation("end", after: [0], ready: 100, 100, 100),
      ]).names == ["long", "end"])
    #expect(try path(of: [Recording.operation("a", 0, 0), Recording.operation("b", 0, 0)], duration: 0).names == ["a"])
  }

  @Test("Operations that depend on, or added, each other do not result in a loop") func loops() throws {
    #expect(
      try path(of: [
        Recording.operation("a", parent: 1, after: [1], 0, 100),
        Recording.operation("b", parent: 0, after: [0], 0, 100),
      ]).names.count <= 2)
    #expect(try path(of: [Recording.operation("self", parent: 0, after: [0], 0, 100)]).names == ["self"])
  }

  @Test("An operation that never ended counts until the trace's end; an operation that never started has no length")
  func missingTimes() throws {
    let unfinished = TraceRecording.Operation(name: "unfinished", runs: [.init(startTime: 5, thread: 0)])
    let cancelled = TraceRecording.Operation(name: "cancelled", finishedTime: 50, result: .cancelled)
    #expect(try path(of: [cancelled, unfinished]).path.steps.last?.endTime == Self.millisecond * 100)
    #expect(try path(of: [cancelled]).path.runDuration == 0)
    #expect(TraceRecording(duration: 5, operations: [.init(name: "waiting", addedTime: 1)]).criticalPath() == nil)
    #expect(TraceRecording(duration: 5).criticalPath() == nil)
  }

  @Test("Impossible times and positions still result in a possible path", arguments: 0..<300 as Range<UInt64>)
  func impossible(seed: UInt64) {
    let recording = TraceRecording.random(seed: seed)
    if let path = recording.criticalPath() { check(path, recording) }
  }

  @Test("Ten thousand operations: the path ends with the last operation", arguments: 1...5 as ClosedRange<UInt64>)
  func generated(seed: UInt64) throws {
    let recording = TraceRecording.generated(operationCount: 10_000, seed: seed)
    let path = try #require(recording.criticalPath())
    check(path, recording)
    #expect(path.steps.last?.endTime == recording.operations.compactMap(\.finishedTime).max())
    #expect(path.steps.first?.startTime ?? .seconds(1) < .milliseconds(5))
    // Queues and dependencies explain nearly all of the time.
    #expect(path.runDuration > path.recordingDuration * 9 / 10)
    #expect(path.longestLimit != nil)
  }
}
