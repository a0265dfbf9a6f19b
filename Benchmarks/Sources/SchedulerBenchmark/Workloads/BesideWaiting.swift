import Foundation
import Headway

extension Workload {
  /// The cost of an operation in a queue that contains `count` operations that wait for something else.
  ///
  /// Up to 200 batches of 1,000 operations are added and run, within the time limit. The result is in nanoseconds per
  /// operation.
  ///
  /// Only operation queues support this. The process ends while the other operations still wait.
  static let besideWaiting = Workload(name: "beside-waiting") { rival, count in
    let size = 1000
    let counter = Counter()
    let body: Body = { counter.increment() }
    let done = Semaphore()
    let last: Body = { done.signal() }
    func run(_ add: (@escaping Body) -> Void) -> [Double] {
      let start = ContinuousClock.now
      var times: [Double] = []
      repeat {
        let seconds = Stopwatch.seconds {
          for _ in 1..<size { add(body) }
          add(last)
          done.wait()
        }
        times.append(seconds / Double(size) * 1e9)
      } while times.count < 200 && Stopwatch.seconds(since: start) < TimeLimit.seconds
      return times
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
      times = withExtendedLifetime(first) { run { queue.addOperation($0) } }
    case is FoundationRival:
      let queue = Foundation.OperationQueue()
      let first = Foundation.BlockOperation { counter.increment() }
      for _ in 0..<count {
        let waiting = Foundation.BlockOperation(block: body)
        waiting.addDependency(first)
        queue.addOperation(waiting)
      }
      times = withExtendedLifetime(first) { run { queue.addOperation($0) } }
    default: return nil
    }
    return Report(samples: [times.median])
  }
}
