import Dispatch
import HeadwayTestKit
import Synchronization

@testable import Headway

/// The changes that several threads make to the same operations and queues, from one seed.
final class Mayhem: Sendable {
  static let threadCount = 4
  static let stepCount = 250

  let seed: UInt64
  /// Limited to 0…2; limited to 1, and suspended at times; on a dispatch queue; as the system decides.
  let queues = [OperationQueue(limit: 2), OperationQueue(limit: 1), OperationQueue(), OperationQueue()]
  /// The operations that run in each of the queues.
  let crowds = [Crowd(), Crowd(), Crowd(), Crowd()]
  /// Never suspended.
  let calm = OperationQueue()
  let census = Crowd()
  let operations = Mutex<[Victim]>([])
  let complaints = EventRecorder<String>()
  let inner = Atomic<Int>(0)
  /// The observers of queues.
  let tokens = Mutex<[KeyValueObservation]>([])

  init(seed: UInt64) {
    self.seed = seed
    queues[2].underlyingQueue = DispatchQueue(label: "mayhem", attributes: .concurrent)
    queues[3].progress.totalUnitCount = 1_000
    let counts = EventRecorder<Int>()
    let token = queues[1].observe(\.operationCount, options: .new) { [complaints] _, change in
      if let last = counts.events.last, abs(last - change.newValue!) != 1 {
        complaints.record("the count went from \(last) to \(change.newValue!)")
      }
      counts.record(change.newValue!)
    }
    tokens.withLock { $0.append(token) }
  }

  func run() {
    onThreads(Self.threadCount) { number in
      var thread = MayhemThread(mayhem: self, number: number)
      for _ in 0..<Self.stepCount { thread.step() }
      thread.addDrafts()
    }
    for operation in operations.withLock({ $0 }) { operation.allow(true) }
    for queue in queues {
      queue.isSuspended = false
      queue.maxConcurrentOperationCount = queue === queues[1] ? 1 : 2
    }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    calm.waitUntilAllOperationsAreFinished()
  }

  func add(_ operation: Victim, to number: Int) {
    operation.crowd.withLock { $0 = crowds[number] }
    queues[number].addOperation(operation)
  }

  func addBarrier(to number: Int) {
    let crowd = crowds[number]
    queues[number].addBarrierBlock { [self] in
      if crowd.now != 0 { complaints.record("\(crowd.now) operations run next to a barrier of queue \(number)") }
      yieldThread()
      if crowd.now != 0 { complaints.record("an operation started concurrently with a barrier of queue \(number)") }
    }
  }

  func someOperation(_ generator: inout SeededGenerator) -> Victim? {
    operations.withLock { $0.randomElement(using: &generator) }
  }
}
