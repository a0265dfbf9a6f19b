import Foundation
import Headway

extension Workload {
  /// Bytes of an operation that waits in a suspended queue, its closure with one captured number included, by the
  /// statistics of the C library; then all run, and the figures tell what the process still holds afterwards.
  static let waitingMemory = Workload(name: "waiting-memory") { rival, count in
    guard let rival = rival as? any QueueRival else { return nil }
    let queue = rival.makeQueue()
    let counter = Counter()
    let (allocated, resident) = (Memory.allocatedBytes, Memory.residentBytes)
    queue.suspend()
    for position in 0..<count { queue.add { if position >= 0 { counter.increment() } } }
    let each = Double(Memory.allocatedBytes - allocated) / Double(count)
    let residentEach = Double(Memory.residentBytes - resident) / Double(count)
    queue.resume()
    queue.waitUntilEmpty()
    counter.require(count)
    var figures = ["residentEach": residentEach, "residentAfter": Double(Memory.residentBytes - resident)]
    figures["allocatedAfter"] = Double(Memory.allocatedBytes - allocated)
    Memory.trim()
    figures["residentAfterTrim"] = Double(Memory.residentBytes - resident)
    return Report(samples: [each], figures: figures)
  }

  /// The same when each waits for the one before it as well.
  ///
  /// Only operation queues have that.
  static let dependentMemory = Workload(name: "dependent-memory") { rival, count in
    let allocated = Memory.allocatedBytes
    let counter = Counter()
    // What was built is kept until it was measured, and is not run: that would take hours with Foundation.
    let kept: Any
    switch rival {
    case is HeadwayRival:
      let queue = Headway.OperationQueue()
      queue.isSuspended = true
      var last: Headway.Operation?
      for position in 0..<count {
        let operation = Headway.BlockOperation { if position >= 0 { counter.increment() } }
        if let last { operation.addDependency(last) }
        queue.addOperation(operation)
        last = operation
      }
      kept = queue
    case is FoundationRival:
      let queue = Foundation.OperationQueue()
      queue.isSuspended = true
      var last: Foundation.Operation?
      for position in 0..<count {
        let operation = Foundation.BlockOperation { if position >= 0 { counter.increment() } }
        if let last { operation.addDependency(last) }
        queue.addOperation(operation)
        last = operation
      }
      kept = queue
    default: return nil
    }
    let each = Double(Memory.allocatedBytes - allocated) / Double(count)
    return withExtendedLifetime(kept) { Report(samples: [each]) }
  }
}
