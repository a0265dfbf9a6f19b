import Foundation

/// On Linux it has progress alone: neither key-value observing of operations nor events.
extension FoundationRival: ObservableRival {
  func canObserve(_ observation: Observation) -> Bool { observation == .progress }

  func runUnobserved(_ observation: Observation, count: Int, body: @escaping Body) { run(count: count, body: body) }

  func runObserved(_ observation: Observation, count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = Int64(count)
    for _ in 0..<count { queue.addOperation(body) }
    queue.waitUntilAllOperationsAreFinished()
  }
}
