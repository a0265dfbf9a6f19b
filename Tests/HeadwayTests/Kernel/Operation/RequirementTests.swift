import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Requirements", .hangLimit) struct RequirementTests {
  @Test("D3: an operation that requires a failed operation is cancelled, and its error names the failed operation")
  func failed() {
    let queue = OperationQueue()
    let ran = EventRecorder<String>()
    let fetch = BlockOperation(name: "fetch") { throw Mishap() }
    let parse = BlockOperation(name: "parse") { ran.record("parse") }
    let report = BlockOperation(name: "report") { ran.record("report") }
    parse.addDependency(fetch, requiring: .success)
    report.addDependency(fetch, requiring: .completion)
    queue.addOperations([fetch, parse, report], waitUntilFinished: true)
    #expect(ran.events == ["report"])
    #expect(parse.isCancelled)
    let error = parse.error as? DependencyError
    #expect(error?.failedDependency === fetch)
    #expect(error?.underlyingError as? Mishap == Mishap())
    #expect(error.map { "\($0)" }?.hasPrefix("“fetch”, which was required to succeed, failed: ") == true)
  }

  @Test("D3: an operation that requires a cancelled operation is also cancelled with an error") func cancelled() {
    let (first, second) = (BlockOperation(name: "first"), BlockOperation(name: "second"))
    second.addDependency(first, requiring: .success)
    let queue = OperationQueue()
    queue.addOperation(second)
    first.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(second.isCancelled)
    #expect("\(second.error!)" == "“first”, which was required to succeed, was cancelled")
  }

  @Test("D3: the effect propagates down the graph, and names the first failed dependency") func chain() {
    let queue = OperationQueue()
    let operations = (0..<10).map { number in
      BlockOperation(name: "\(number)") { if number == 0 { throw Mishap() } }
    }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one, requiring: .success) }
    queue.addOperations(operations, waitUntilFinished: true)
    for operation in operations.dropFirst() {
      #expect(operation.isCancelled)
      #expect((operation.error as? DependencyError)?.failedDependency === operations[0])
    }
  }

  @Test("D3: a success lets the dependent run") func success() {
    let queue = OperationQueue()
    let (first, second) = (BlockOperation {}, BlockOperation {})
    second.addDependency(first, requiring: .success)
    queue.addOperations([first, second], waitUntilFinished: true)
    #expect(second.outcome.isSuccess)
  }

  @Test("D3: an operation can require an operation that has already finished") func finishedBefore() {
    let (good, bad) = (BlockOperation {}, BlockOperation { throw Mishap() })
    good.start()
    bad.start()
    let operation = BlockOperation {}
    operation.addDependency(good, requiring: .success)
    #expect(!operation.isCancelled)
    operation.addDependency(bad, requiring: .success)
    #expect(operation.isCancelled && operation.isFinished)
    #expect((operation.error as? DependencyError)?.failedDependency === bad)
  }

  @Test("D3: a requirement that was removed has no effect") func removed() {
    let (first, second) = (BlockOperation { throw Mishap() }, BlockOperation {})
    second.addDependency(first, requiring: .success)
    second.removeDependency(first)
    first.start()
    #expect(!second.isCancelled)
  }

  @Test("D3: a chain of 100,000 operations in no queue neither overflows the stack nor takes long") func longChain() {
    let operations = (0..<100_000).map { _ in BlockOperation {} }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one, requiring: .success) }
    operations[0].cancel()
    #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled })
    #expect((operations.last?.error as? DependencyError)?.failedDependency === operations[0])
  }

  @Test("D3: the effect precedes the release, even through an operation in no queue") func notReleasedFirst() {
    let queue = OperationQueue()
    queue.executor = ImmediateExecutor()
    let ran = EventRecorder<String>()
    let (first, second) = (BlockOperation {}, BlockOperation {})
    let third = BlockOperation { ran.record("third") }
    second.addDependency(first, requiring: .success)
    third.addDependency(second, requiring: .success)
    queue.addOperation(third)
    let readiness = EventRecorder(observing: third, at: \.isReady)
    first.cancel()
    #expect(third.isFinished && third.isCancelled && ran.events == [])
    #expect(readiness.events == [false, true])
    #expect((third.error as? DependencyError)?.failedDependency === first)
  }

  @Test("D3: an operation's error names the required dependency that failed first, not another that failed with it")
  func diamond() {
    let (first, second, third) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
    third.addDependency(second, requiring: .success)
    third.addDependency(first, requiring: .success)
    second.addDependency(first, requiring: .success)
    second.recordError(Mishap())
    first.cancel()
    #expect(second.error as? Mishap == Mishap())
    #expect((third.error as? DependencyError)?.failedDependency === first)
  }

  @Test("D3: a freed dependent has no effect") func freed() {
    let first = BlockOperation { throw Mishap() }
    do {
      let second = BlockOperation {}
      second.addDependency(first, requiring: .success)
    }
    first.start()
    #expect(first.isFinished)
  }
}

/// Runs the operations that queues start immediately, inside the call that made them ready.
private final class ImmediateExecutor: WorkExecutor {
  let isStepwise = true

  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    for _ in 0..<count { work.runOnWorker(of: nil, atMost: 1) }
  }

  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {}

  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int { 0 }
}
