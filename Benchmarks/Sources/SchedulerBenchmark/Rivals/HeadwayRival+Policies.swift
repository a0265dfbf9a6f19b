import Headway
import HeadwayTestKit

extension HeadwayRival: PolicyRival {
  func preparedRun(_ restriction: Restriction?, count: Int) -> (@escaping Body) -> Void {
    let policies: [OperationPolicy] =
      switch restriction {
      case nil: []
      case .exclusiveNames(let most):
        (0..<min(count, most)).map { OperationPolicy(exclusiveResources: ["benchmark \($0)"]) }
      case .keys(let most): (0..<min(count, most)).map { OperationPolicy(key: "benchmark \($0)") }
      }
    return { body in
      let queue = OperationQueue()
      for number in 0..<count {
        let operation = BlockOperation(block: body)
        if !policies.isEmpty { operation.policy = policies[number % policies.count] }
        queue.addOperation(operation)
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  func makeWaitingQueue(count: Int, delayed: Bool, body: @escaping Body) -> any CancellableQueue {
    let queue = OperationQueue()
    queue.isSuspended = true
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<count {
      let operation = BlockOperation(block: body)
      if delayed {
        let milliseconds = Int.random(in: 3_600_000..<7_200_000, using: &generator)
        operation.policy = OperationPolicy(delay: .milliseconds(milliseconds))
      }
      queue.addOperation(operation)
    }
    return HeadwayQueue(queue)
  }

  func makeQueue(startsPerSecond count: Int) -> any WorkQueue {
    let queue = OperationQueue()
    queue.rateLimit = RateLimit(count, per: .seconds(1))
    return HeadwayQueue(queue)
  }
}
