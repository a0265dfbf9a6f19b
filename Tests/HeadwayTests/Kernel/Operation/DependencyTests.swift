import Headway
import HeadwayTestKit
import Testing

@Suite("Dependencies", .hangLimit) struct DependencyTests {
  @Test("D1: an operation runs after its dependencies, across queues, in one direction") func order() {
    let record = EventRecorder<String>()
    let (left, right) = (OperationQueue(), OperationQueue())
    let fetch = BlockOperation { record.record("fetch") }
    let parse = BlockOperation { record.record("parse") }
    let store = BlockOperation { record.record("store") }
    parse.addDependency(fetch)
    store.addDependency(parse)
    store.addDependency(fetch)
    #expect(store.dependencies == [parse, fetch])
    #expect(fetch.dependencies.isEmpty)
    left.addOperation(store)
    right.addOperation(parse)
    left.addOperation(fetch)
    store.waitUntilFinished()
    #expect(record.events == ["fetch", "parse", "store"])
  }

  @Test("D1: an operation with many dependencies waits for each of them") func many() {
    let queue = OperationQueue()
    let done = EventRecorder<Int>()
    let parts = (0..<1_000).map { number in BlockOperation { done.record(number) } }
    let last = BlockOperation { #expect(done.count == 1_000) }
    for part in parts { last.addDependency(part) }
    #expect(last.dependencies == parts)
    queue.addOperation(last)
    queue.addOperations(parts, waitUntilFinished: false)
    last.waitUntilFinished()
    #expect(done.count == 1_000)
  }

  @Test("D2: a dependency counts when it has finished, whether it succeeded, failed, or was cancelled")
  func anyOutcome() {
    let queue = OperationQueue()
    let success = BlockOperation {}
    let failure = BlockOperation { throw Mishap() }
    let cancelled = BlockOperation {}
    let last = BlockOperation {}
    for operation in [success, failure, cancelled] { last.addDependency(operation) }
    queue.addOperation(last)
    queue.addOperations([success, failure], waitUntilFinished: true)
    #expect(!last.isFinished)
    cancelled.cancel()
    last.waitUntilFinished()
    #expect(failure.error as? Mishap == Mishap())
  }

  @Test("D4: removing the last unfinished dependency releases the operation") func removing() {
    let queue = OperationQueue()
    let (first, second) = (BlockOperation {}, BlockOperation {})
    let operation = BlockOperation {}
    operation.addDependency(first)
    operation.addDependency(second)
    queue.addOperation(operation)
    operation.removeDependency(first)
    #expect(!operation.isReady)
    #expect(operation.dependencies == [second])
    operation.removeDependency(second)
    operation.waitUntilFinished()
    first.start()
    second.start()
    #expect(first.isFinished && second.isFinished)
  }

  @Test("D4: removing 100,000 dependencies from an operation one by one takes linear time") func removingFromHub() {
    let hub = BlockOperation {}
    let dependents = (0..<100_000).map { _ in BlockOperation {} }
    for dependent in dependents { dependent.addDependency(hub) }
    for dependent in dependents { dependent.removeDependency(hub) }
    #expect(dependents.allSatisfy { $0.isReady && $0.dependencies.isEmpty })
  }

  @Test("D5: adding a finished or duplicate dependency, or removing an unrelated one, is harmless") func harmless() {
    let finished = BlockOperation {}
    finished.start()
    let twice = BlockOperation {}
    let operation = BlockOperation {}
    operation.addDependency(finished)
    #expect(operation.isReady)
    operation.addDependency(twice)
    operation.addDependency(twice)
    operation.removeDependency(BlockOperation {})
    operation.removeDependency(operation)
    #expect(!operation.isReady)
    twice.start()
    #expect(operation.isReady)
    operation.start()
    operation.removeDependency(twice)
    #expect(operation.isFinished)
  }

  @Test("D5: an operation that depends on itself is a programming error") func itself() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = BlockOperation {}
      operation.name = "ouroboros"
      operation.addDependency(operation)
    }
    #expect(result.message.contains("“ouroboros” (ready) can't depend on itself"))
  }

  @Test("D5: adding a dependency to a started operation has no effect, and causes one warning")
  func started() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for number in 0..<2 {
        let operation = SelfAware { $0.addDependency(BlockOperation {}) }
        operation.name = "late \(number)"
        operation.start()
        precondition(operation.isFinished && operation.dependencies.isEmpty)
      }
    }
    #expect(result.message.contains("addDependency(_:) on “late 0” (executing), which has started: it is ignored."))
    #expect(!result.message.contains("late 1"))
  }

  @Test("D5: a ready operation in a queue waits for a dependency that is added") func late() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let record = EventRecorder<Int>()
    let operation = BlockOperation { record.record(2) }
    queue.addOperation(operation)
    let late = BlockOperation { record.record(1) }
    operation.addDependency(late)
    queue.isSuspended = false
    #expect(!operation.isReady)
    OperationQueue().addOperation(late)
    operation.waitUntilFinished()
    #expect(record.events == [1, 2])
  }

  @Test("D6: cancelling one member of a cycle releases the other members") func cycle() {
    let queue = OperationQueue()
    let operations = (0..<3).map { BlockOperation(name: "\($0)") }
    for (position, operation) in operations.enumerated() { operation.addDependency(operations[(position + 1) % 3]) }
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(operations.allSatisfy { !$0.isReady })
    operations[1].cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operations.map(\.isCancelled) == [false, true, false])
  }

  @Test("D7: a chain of 200,000 operations and a grid of 300 × 300 operations run in order") func large() {
    let queue = OperationQueue()
    let record = EventRecorder<Int>()
    var chain: [BlockOperation] = []
    for number in 0..<200_000 {
      let operation = BlockOperation { if number % 10_000 == 0 { record.record(number) } }
      if let last = chain.last { operation.addDependency(last) }
      chain.append(operation)
    }
    queue.addOperations(chain, waitUntilFinished: true)
    #expect(record.events == Array(stride(from: 0, to: 200_000, by: 10_000)))

    var above: [BlockOperation] = []
    var all: [BlockOperation] = []
    for _ in 0..<300 {
      let row = (0..<300).map { column in
        let dependencies = above.isEmpty ? [] : above[max(0, column - 1)...min(299, column + 1)]
        let operation = BlockOperation { [dependencies] in #expect(dependencies.allSatisfy { $0.isFinished }) }
        for dependency in dependencies { operation.addDependency(dependency) }
        return operation
      }
      all += row
      above = row
    }
    queue.addOperations(all, waitUntilFinished: true)
    #expect(all.allSatisfy { $0.isFinished })
  }

  @Test("D8: adding dependencies from several threads, in any direction, never deadlocks") func concurrentBuilding() {
    let operations = (0..<64).map { _ in BlockOperation {} }
    let builders = OperationQueue()
    let meeting = Meeting(of: 8)
    for seed in 0..<8 {
      builders.addOperation {
        var generator = SeededGenerator(seed: UInt64(seed))
        meeting.attend()
        for _ in 0..<5_000 {
          let left = Int.random(in: 0..<64, using: &generator)
          let right = Int.random(in: 0..<64, using: &generator)
          guard left != right else { continue }
          if Bool.random(using: &generator) {
            operations[left].addDependency(operations[right])
          } else {
            operations[left].removeDependency(operations[right])
          }
        }
      }
    }
    builders.waitUntilAllOperationsAreFinished()
    // For any graph, if all edges are removed, each operation is ready: nothing was counted twice or lost.
    for operation in operations {
      for dependency in operation.dependencies { operation.removeDependency(dependency) }
      #expect(operation.isReady, "\(operation.debugDescription)")
    }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
  }
}
