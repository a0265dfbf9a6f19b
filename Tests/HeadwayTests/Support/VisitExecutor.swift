import Dispatch
import Synchronization

@testable import Headway

/// Runs the operations that queues start on the calling thread, like a worker: in whole runs of operations, until there
/// is nothing more to do.
///
/// From inside an operation, it acts as another worker would at that moment.
final class VisitExecutor: WorkExecutor {
  private let work = Mutex(WaitingWork())
  let isStepwise = true

  /// The number of requested workers that have not arrived.
  var waitingCount: Int { work.withLock { $0.count } }

  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    self.work.withLock { _ = $0.append(work, count: count) }
  }

  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    self.work.withLock { $0.append(helpersFor: work, count: count) }
  }

  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int { self.work.withLock { $0.withdraw(work) } }

  /// Acts as one arriving worker; false if none was requested.
  @discardableResult
  func step(atMost count: Int = .max) -> Bool {
    guard let work = work.withLock({ $0.popFirst() }) else { return false }
    work.runOnWorker(of: nil, atMost: count)
    return true
  }

  /// Acts as all requested workers, one after the other.
  func runSteps() { while step() {} }

  /// Acts as a worker that takes as many operations as a batch has room for.
  ///
  /// How many a visit takes depends on how fast they run.
  ///
  /// - Parameters:
  ///   - queue: The queue to take operations from.
  ///   - isOfPool: True if the batch is like a batch of the pool, whose thread runs completion blocks.
  ///   - body: The code that runs before the first operation begins.
  func runBatch(of queue: OperationQueue, isOfPool: Bool = false, after body: () -> Void = {}) {
    let batch = Batch()
    let hasFilled = queue.update(collectingBatches: true) { state in
      batch.reset(for: queue, isOfPool ? nil : state.executor, state.admission.placement, .normal)
      return state.admission.fill(
        batch, atMost: Batch.capacity, indivisible: Batch.capacity, at: DispatchTime.now().uptimeNanoseconds,
        where: { $0.fitsBatch })
    }
    guard hasFilled else { return }
    body()
    _ = queue.runAll(of: batch, nil)
    queue.update(collectingBatches: true) { $0.admission.close(batch) }
    batch.release()
  }
}
