import Foundation
import Headway

extension Workload {
  /// What an operation costs in a queue in which that many wait for something else: 200,000 are added and run, in lots
  /// of 1,000; nanoseconds each. Only operation queues have that.
  static let besideWaiting = Workload(name: "beside-waiting") { rival, count in
    let (lots, size) = (200, 1000)
    let counter = Counter()
    let body: Body = { counter.increment() }
    let done = Semaphore()
    let last: Body = { done.signal() }
    func run(_ add: (@escaping Body) -> Void) -> [Double] {
      (0..<lots).map { _ in
        let seconds = Stopwatch.seconds {
          for _ in 1..<size { add(body) }
          add(last)
          done.wait()
        }
        return seconds / Double(size) * 1e9
      }
    }
    let times: [Double]
    switch rival {
    case is HeadwayRival:
      let queue = Headway.OperationQueue()
      let first = Headway.BlockOperation { counter.increment() }
      for _ in 0..<count {
        let waiting = Headway.BlockOperation(block: body)
        waiting.addDependency(first)
        queue.addOperation(waiting)
      }
      times = run { queue.addOperation($0) }
      queue.addOperation(first)
      queue.waitUntilAllOperationsAreFinished()
    case is FoundationRival:
      let queue = Foundation.OperationQueue()
      let first = Foundation.BlockOperation { counter.increment() }
      for _ in 0..<count {
        let waiting = Foundation.BlockOperation(block: body)
        waiting.addDependency(first)
        queue.addOperation(waiting)
      }
      times = run { queue.addOperation($0) }
      // Letting the waiting ones go takes a time that grows with the square of their number; the process ends instead.
    default: return nil
    }
    return Report(samples: [times.dropFirst(10).median])
  }
}
