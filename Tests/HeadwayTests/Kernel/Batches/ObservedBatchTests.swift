import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Observers of operations in batches", .hangLimit) struct ObservedBatchTests {
  @Test("K2: an observer of the end can wait for an operation that was added later", arguments: [1, 2, -1])
  func waiting(limit: Int) {
    let queue = OperationQueue(limit: limit)
    queue.isSuspended = true
    let heard = EventRecorder<Int>()
    let operations = (0..<100).map { _ in BlockOperation {} }
    let tokens = operations.indices.dropLast().map { position in
      operations[position].observe(\.isFinished) { operation, _ in
        #expect(OperationQueue.current === queue)
        if position % 7 == 0 { operations[position + 1].waitUntilFinished() }
        operation.waitUntilFinished()
        heard.record(position)
      }
    }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    for operation in operations { operation.waitUntilFinished() }
    #expect(heard.events.sorted() == Array(0..<99))
    withExtendedLifetime(tokens) {}
  }

  @Test("K2: an observer of the end that blocks delays neither dependents nor the queue", arguments: [1, -1])
  func blocking(limit: Int) {
    let queue = OperationQueue(limit: limit)
    queue.isSuspended = true
    let go = Gate()
    let operations = (0..<40).map { _ in BlockOperation {} }
    let dependents = operations.map { operation in
      let dependent = BlockOperation {}
      dependent.addDependency(operation)
      return dependent
    }
    let token = operations[3].observe(\.isFinished) { _, _ in go.wait() }
    queue.addOperations(operations + dependents, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0)
    go.open()
    operations[3].waitUntilFinished()
    withExtendedLifetime(token) {}
  }

  @Test("K2: observers are notified once and in order of each change, among thousands of other operations")
  func order() {
    let queue = OperationQueue()
    let finished = EventRecorder<Bool>()
    for round in 0..<300 {
      let operations = (0..<20).map { _ in BlockOperation {} }
      for (earlier, later) in zip(operations, operations.dropFirst()) where round % 2 == 0 {
        later.addDependency(earlier)
      }
      let records = operations.map { operation in
        let record = EventRecorder<String>()
        let tokens = [
          operation.observe(\.isFinished, options: .new) { _, change in record.record("finished \(change.newValue!)") },
          round % 3 == 0
            ? operation.observe(\.isExecuting, options: .new) { _, change in
              record.record("executing \(change.newValue!)")
            } : operation.observe(\.isCancelled) { _, _ in record.record("cancelled") },
        ]
        return (record, tokens)
      }
      queue.addOperations(operations, waitUntilFinished: true)
      let expected =
        round % 3 == 0 ? ["executing true", "executing false", "finished true"] : ["finished true"]
      for (record, _) in records { #expect(record.events == expected) }
      finished.record(true)
    }
    #expect(finished.count == 300)
  }

  @Test("K1: an observer of the readiness of a dependent is notified when a batch makes it ready") func readiness() {
    let queue = OperationQueue()
    for _ in 0..<200 {
      let (first, second) = (BlockOperation {}, BlockOperation {})
      second.addDependency(first)
      let ready = EventRecorder(observing: second, at: \.isReady)
      queue.addOperations([second, first], waitUntilFinished: true)
      #expect(ready.events == [false, true])
    }
  }

  @Test("K1: a freed operation releases its observers, even if their tokens remain") func freed() {
    weak var held: EventRecorder<Int>?
    var tokens: [KeyValueObservation] = []
    for ends in [false, true] {
      let operation = BlockOperation {}
      let record = EventRecorder<Int>()
      held = record
      tokens.append(operation.observe(\.isFinished) { _, _ in record.record(1) })
      if ends { operation.start() }
    }
    #expect(held == nil && tokens.count == 2)
    for token in tokens { token.invalidate() }
  }

  @Test("K1: a token ends the observation that created it, and no other") func tokens() {
    let operation = BlockOperation {}
    let told = EventRecorder<Int>()
    var tokens = (0..<4).map { number in operation.observe(\.isFinished) { _, _ in told.record(number) } }
    tokens.remove(at: 0).invalidate()
    tokens.remove(at: 1).invalidate()
    tokens.append(operation.observe(\.isFinished) { _, _ in told.record(4) })
    operation.start()
    #expect(told.events == [1, 3, 4])
  }
}
