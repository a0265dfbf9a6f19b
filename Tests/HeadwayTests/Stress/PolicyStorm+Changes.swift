import HeadwayTestKit
import Synchronization

@testable import Headway

extension PolicyStorm {
  /// Changes or reads a queue or its operations; in most cases, does nothing.
  func change(_ target: Target, _ mine: [Operation], _ generator: inout SeededGenerator) {
    let (queue, operation) = (target.queue, mine.randomElement(using: &generator))
    switch generator.next() % 60 {
    case 0: operation?.cancel()
    case 1:
      queue.isSuspended = true
      queue.isSuspended = generator.chance(20)
    case 2: _ = queue.operations.count
    case 3: _ = queue.snapshot()
    case 4: _ = OperationQueue.snapshotAll()
    case 5:
      let token = queue.observe(\.operationCount) { _, _ in }
      keep(token)
    case 6: if generator.chance(20) { queue.cancelAllOperations() }
    case 7:
      if target.limit == nil {
        queue.maxConcurrentOperationCount = [1, 2, -1, 5].randomElement(using: &generator) ?? -1
      }
    case 8: _ = operation?.diagnosis
    case 9: queue.rateLimit = generator.chance(40) ? nil : Self.makeRate(&generator)
    case 10: operation?.queuePriority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
    case 11: keep(queue.listen { _ in })
    case 12: if generator.chance(10) { queue.close() }
    case 13:
      if generator.chance(20) {
        let limit = Duration.microseconds(Int.random(in: 0...2_000, using: &generator))
        keep(Task { _ = await queue.drain(within: limit) })
      }
    case 14: queue.qualityOfService = [.utility, .default, .userInitiated].randomElement(using: &generator) ?? .default
    case 15:
      if let operation {
        let task = Task { _ = try? await operation.untilFinished() }
        keep(task)
        if generator.chance(50) { task.cancel() }
      }
    case 16: queue.defaultKeyPolicy = KeyPolicy(weight: Int.random(in: 1...4, using: &generator))
    case 17: _ = queue.circuitBreakerState(forKey: Self.keys[0])
    case 18: queue.addBarrierBlock {}
    default: break
    }
  }

  private func keep(_ task: Task<Void, Never>) { tasks.withLock { $0.append(task) } }

  /// Keeps an observation until other threads have had their turn.
  private func keep(_ token: KeyValueObservation) {
    keep(
      Task {
        for _ in 0..<10 { await Task.yield() }
        token.invalidate()
      })
  }
}
