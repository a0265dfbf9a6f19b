import Foundation
import Headway

extension Workload {
  /// The number of bytes of an operation that waits in a suspended queue, including its closure with one captured
  /// number, according to the statistics of the C library.
  ///
  /// Then all operations run, and the figures are the memory that the process still uses afterwards.
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

  /// The same, but each operation also waits for the previous one.
  ///
  /// Only operation queues support this.
  static let dependentMemory = Workload(name: "dependent-memory") { rival, count in
    let allocated = Memory.allocatedBytes
    let counter = Counter()
    // The operations are kept until they have been measured. They are not run, because that would take hours with
    // Foundation.
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
