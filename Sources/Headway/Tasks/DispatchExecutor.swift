import Dispatch

/// Runs work on a dispatch queue: that of an operation queue's operations.
final class DispatchExecutor: WorkExecutor {
  private let queue: DispatchQueue

  init(queue: DispatchQueue) { self.queue = queue }

  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    for _ in 0..<count { queue.async { work.runOnWorker(of: nil, atMost: .max) } }
  }
}
