import Foundation
import Synchronization

extension FoundationRival: OperationKindRival, DependentRival {
  private final class Work: Operation, @unchecked Sendable {
    private let body: Body
    init(_ body: @escaping Body) { self.body = body }
    override func main() { body() }
  }

  /// An asynchronous operation with the states that every user of Foundation must manage.
  private final class AsynchronousWork: Operation, @unchecked Sendable {
    private let body: Body
    private let states = Mutex((isExecuting: false, isFinished: false))

    init(_ body: @escaping Body) { self.body = body }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { states.withLock { $0.isExecuting } }
    override var isFinished: Bool { states.withLock { $0.isFinished } }

    override func start() {
      willChangeValue(for: \.isExecuting)
      states.withLock { $0.isExecuting = true }
      didChangeValue(for: \.isExecuting)
      body()
      willChangeValue(for: \.isExecuting)
      willChangeValue(for: \.isFinished)
      states.withLock { $0 = (false, true) }
      didChangeValue(for: \.isFinished)
      didChangeValue(for: \.isExecuting)
    }
  }

  func run(_ kind: OperationKind, count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    for _ in 0..<count { queue.addOperation(make(kind, body)) }
    queue.waitUntilAllOperationsAreFinished()
  }

  private func make(_ kind: OperationKind, _ body: @escaping Body) -> Operation {
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
