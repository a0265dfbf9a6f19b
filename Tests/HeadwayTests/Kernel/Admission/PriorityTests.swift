import Headway
import HeadwayTestKit
import Testing

@Suite("Priority", .hangLimit) struct PriorityTests {
  @Test(
    "P1: a raw value is rounded to the nearest priority toward normal",
    arguments: [
      (Int.min, QueuePriority.veryLow), (-9, .veryLow), (-8, .veryLow), (-7, .low), (-5, .low), (-4, .low),
      (-3, .normal), (-1, .normal), (0, .normal), (3, .normal), (4, .high), (5, .high), (7, .high), (8, .veryHigh),
      (9, .veryHigh), (10_000, .veryHigh), (.max, .veryHigh),
    ])
  func nearest(number: Int, priority: QueuePriority) {
    #expect(QueuePriority(roundingTowardNormal: number) == priority)
  }

  @Test("P1: the five priorities have Foundation's raw values, and compare by urgency") func numbers() {
    #expect(QueuePriority.allCases.map(\.rawValue) == [-8, -4, 0, 4, 8])
    #expect(QueuePriority.allCases.sorted() == QueuePriority.allCases)
    #expect(BlockOperation {}.queuePriority == .normal)
  }

  @Test(
    "P2: ready operations start by priority, and operations of equal priority start in insertion order",
    arguments: 1...5)
  func order(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let queue = OperationQueue(limit: 1)
    queue.isSuspended = true
    let record = EventRecorder<Int>()
    let operations = (0..<200).map { number in
      let operation = BlockOperation { record.record(number) }
      operation.queuePriority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
      return operation
    }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    let expected = operations.indices.sorted { left, right in
      let (one, other) = (operations[left].queuePriority, operations[right].queuePriority)
      return one == other ? left < right : one > other
    }
    #expect(record.events == expected)
  }

  @Test("P2: readiness comes before priority") func readinessFirst() {
    let queue = OperationQueue(limit: 1)
    let record = EventRecorder<String>()
    let urgent = BlockOperation { record.record("urgent") }
    urgent.queuePriority = .veryHigh
    let idle = BlockOperation { record.record("idle") }
    idle.queuePriority = .veryLow
    urgent.addDependency(idle)
    queue.addOperations([urgent, idle], waitUntilFinished: true)
    #expect(record.events == ["idle", "urgent"])
  }

  @Test("P2: an operation that becomes ready late starts before later operations of equal priority")
  func lateReadiness() {
    let queue = OperationQueue(limit: 1)
    let record = EventRecorder<Int>()
    let end = queue.occupy()
    let dependencies = (0..<3).map { _ in BlockOperation {} }
    let operations = (0..<9).map { number in BlockOperation { record.record(number) } }
    for (position, dependency) in dependencies.enumerated() { operations[3 * position + 1].addDependency(dependency) }
    queue.addOperations(operations, waitUntilFinished: false)
    // They become ready last to first, when the other operations have been ready for a long time.
    for dependency in dependencies.reversed() { dependency.start() }
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == Array(0..<9))
  }

  @Test("P2: changing the priority of a waiting operation takes effect", arguments: ["limit 1", "suspended"])
  func change(kind: String) {
    let queue = OperationQueue(limit: 1)
    let record = EventRecorder<Int>()
    let end = kind == "suspended" ? nil : queue.occupy()
    queue.isSuspended = kind == "suspended"
    let operations = (0..<6).map { number in BlockOperation { record.record(number) } }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[4].queuePriority = .veryHigh
    operations[5].queuePriority = .high
    operations[0].queuePriority = .veryLow
    operations[2].queuePriority = .high
    operations[3].queuePriority = .low
    operations[3].queuePriority = .normal
    end?.open()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [4, 2, 5, 1, 3, 0])
  }

  @Test("P2: changing the priority of an operation that is not ready takes effect when it becomes ready")
  func changeBeforeReady() {
    let queue = OperationQueue(limit: 1)
    let record = EventRecorder<Int>()
    let end = queue.occupy()
    let dependency = BlockOperation {}
    let operations = (0..<3).map { number in BlockOperation { record.record(number) } }
    operations[2].addDependency(dependency)
    queue.addOperations(operations, waitUntilFinished: false)
    operations[2].queuePriority = .high
    dependency.start()
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [2, 0, 1])
  }

  @Test("P2: changing the priorities of 100,000 waiting operations takes linear time") func manyChanges() {
    let queue = OperationQueue(limit: 1)
    queue.isSuspended = true
    let record = EventRecorder<Int>()
    let operations = (0..<100_000).map { number in
      BlockOperation { if number % 10_000 == 0 { record.record(number) } }
    }
    queue.addOperations(operations, waitUntilFinished: false)
    for operation in operations.reversed() { operation.queuePriority = .high }
    for operation in operations.reversed() { operation.queuePriority = .low }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == Array(stride(from: 0, to: 100_000, by: 10_000)))
  }
}
