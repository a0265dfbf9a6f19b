// Mutual exclusion with dependencies: a controller keeps the operations of each kind, and a new operation depends on
// the last one.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// The operations of each kind that have not ended.
private final class ExclusivityController: @unchecked Sendable {  // The operations are accessed only under the lock.
  private let lock = NSLock()
  private var operations: [String: [Operation]] = [:]

  func add(_ operation: Operation, kinds: [String]) {
    lock.withLock {
      for kind in kinds {
        if let last = operations[kind]?.last { operation.addDependency(last) }
        operations[kind, default: []].append(operation)
      }
    }
  }

  func remove(_ operation: Operation, kinds: [String]) {
    lock.withLock {
      for kind in kinds { operations[kind]?.removeAll { $0 === operation } }
    }
  }

  func count(of kind: String) -> Int { lock.withLock { operations[kind]?.count ?? 0 } }
}

/// An operation that excludes other operations of its kinds and notifies the controller when it ends.
private final class Exclusive: StatefulOperation, @unchecked Sendable {
  private let kinds: [String]
  private let controller: ExclusivityController
  private let work: @Sendable () -> Void

  init(_ kinds: [String], _ controller: ExclusivityController, work: @escaping @Sendable () -> Void) {
    self.kinds = kinds
    self.controller = controller
    self.work = work
    super.init()
    controller.add(self, kinds: kinds)
  }

  override func main() {
    work()
    controller.remove(self, kinds: kinds)
    finish()
  }
}

let exclusivity: Program = [
  ("one of a kind, two queues", exclusiveQueues), ("kinds that overlap", exclusiveKinds),
  ("one in the middle cancelled", exclusiveCancelled), ("one cancelled in no queue", exclusiveCancelledInNoQueue),
]

@Sendable private func exclusiveQueues(_ log: Log) {
  let (controller, inside) = (ExclusivityController(), Gauge())
  let queues = [makeQueue(), makeQueue()]
  let operations = (0..<40).map { number in
    Exclusive(["alert"], controller) {
      inside.enter()
      log.note("\(number)")
      inside.leave()
    }
  }
  for (number, operation) in operations.enumerated().reversed() { queues[number % 2].addOperation(operation) }
  for queue in queues { queue.waitUntilAllOperationsAreFinished() }
  log.note("in order: \(log.take() == (0..<40).map(String.init)), at once: \(inside.highest)")
  log.note("left: \(controller.count(of: "alert"))")
}

@Sendable private func exclusiveKinds(_ log: Log) {
  let controller = ExclusivityController()
  let end = Gate()
  let queue = makeQueue()
  let alert = Exclusive(["alert"], controller) {
    end.wait()
    log.note("alert")
  }
  let both = Exclusive(["alert", "map"], controller) { log.note("alert and map") }
  let mapDone = Gate()
  let other = Exclusive(["sound"], controller) {
    log.note("sound")
    mapDone.open()
  }
  let map = Exclusive(["map"], controller) { log.note("map") }
  queue.addOperations([map, other, both, alert], waitUntilFinished: false)
  mapDone.wait()
  log.note("waits: both \(both.dependencies.count), map \(map.dependencies.count)")
  end.open()
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func exclusiveCancelled(_ log: Log) {
  let controller = ExclusivityController()
  let (begun, end) = (Gate(), Gate())
  let queue = makeQueue()
  let first = Exclusive(["alert"], controller) {
    begun.open()
    end.wait()
    log.note("first")
  }
  let second = Exclusive(["alert"], controller) { log.note("second ran") }
  let third = Exclusive(["alert"], controller) { log.note("third") }
  queue.addOperations([first, second, third], waitUntilFinished: false)
  begun.wait()
  second.cancel()
  second.waitUntilFinished()
  third.waitUntilFinished()
  log.note("first: \(first.outcomeFlags); second: \(second.outcomeFlags); third: \(third.outcomeFlags)")
  end.open()
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func exclusiveCancelledInNoQueue(_ log: Log) {
  let controller = ExclusivityController()
  let queue = makeQueue()
  let first = Exclusive(["alert"], controller) { log.note("first ran") }
  let second = Exclusive(["alert"], controller) { log.note("second") }
  first.cancel()
  log.note("first, cancelled in no queue: \(first.outcomeFlags)")
  queue.addOperation(second)
  letOthersRun()
  log.note("second waits: \(second.outcomeFlags), ready \(second.isReady)")
  queue.addOperation(first)
  queue.waitUntilAllOperationsAreFinished()
  log.note("first: \(first.outcomeFlags); second: \(second.outcomeFlags)")
}
