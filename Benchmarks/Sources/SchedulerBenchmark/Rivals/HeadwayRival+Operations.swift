import Headway
import Synchronization

extension HeadwayRival: OperationKindRival, DependentRival {
  private final class Work: Operation, @unchecked Sendable {
    private let body: Body
    init(_ body: @escaping Body) { self.body = body }
    override func main() { body() }
  }

  private final class AsynchronousWork: AsynchronousOperation, @unchecked Sendable {
    private let body: Body
    init(_ body: @escaping Body) { self.body = body }
    override func main() {
      body()
      finish()
    }
  }

  func run(_ kind: OperationKind, count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    for _ in 0..<count { queue.addOperation(make(kind, body)) }
    queue.waitUntilAllOperationsAreFinished()
  }

  @inline(__always) private func make(_ kind: OperationKind, _ body: @escaping Body) -> Operation {
    switch kind {
    case .subclass: return Work(body)
    case .asynchronous: return AsynchronousWork(body)
    case .withName:
      let operation = BlockOperation(block: body)
      operation.name = "work"
      return operation
    case .withCompletionBlock:
      let operation = BlockOperation(block: body)
      operation.completionBlock = body
      return operation
    }
  }

  func makeSuspendedChain(count: Int, body: @escaping Body) -> AnyObject {
    let queue = OperationQueue()
    queue.isSuspended = true
    var last: Operation?
    for _ in 0..<count {
      let operation = Work(body)
      if let last { operation.addDependency(last) }
      queue.addOperation(operation)
      last = operation
    }
    return queue
  }
}

extension HeadwayRival: AsynchronousRival {
  func run(count: Int, suspending: Bool, body: @escaping Body) {
    let queue = OperationQueue()
    for _ in 0..<count {
      queue.addTask {
        if suspending { await Task.yield() }
        body()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  func secondsOfTurns(_ turns: Int, besideBlocking count: Int, call: @escaping Body) -> Double {
    let (blocked, other) = (OperationQueue(), OperationQueue())
    let seconds = Mutex(0.0)
    for _ in 0..<count { blocked.addTask { call() } }
    blocking {
      let start = ContinuousClock.now
      for _ in 0..<turns { try? await other.addTask {}.value }
      seconds.withLock { $0 = Stopwatch.seconds(since: start) }
    }
    blocked.waitUntilAllOperationsAreFinished()
    return seconds.withLock { $0 }
  }

  /// One operation per item in each stage, several at a time.
  ///
  /// At most 64 items are in progress.
  func stream(count: Int, body: @escaping Body) {
    let stages = (0..<3).map { _ in OperationQueue() }
    @Sendable func call(_ item: Int) -> Int {
      body()
      return item
    }
    blocking {
      let first = stages[0].results(of: 0..<count) { call($0) }
      let second = stages[1].results(of: first) { call($0) }
      var sum = 0
      do { for try await item in stages[2].results(of: second, { call($0) }) { sum += item } } catch {}
      precondition(sum == count * (count - 1) / 2)
    }
  }

  func map(count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    blocking {
      let values = try? await queue.concurrentMap(0..<count) { number in
        body()
        return number
      }
      precondition(values?.last == count - 1)
    }
  }
}
