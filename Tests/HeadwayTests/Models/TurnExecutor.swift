import Synchronization

@testable import Headway

/// Runs the operations that one queue starts on the calling thread, one at a time, and keeps starts and completion
/// blocks separate, so that the model need not know how a queue requests its threads.
///
/// `StepExecutor` takes both from one list, which can contain a step for a queue that has nothing to start.
final class TurnExecutor: WorkExecutor {
  private let visits = WorkList()
  private let blocks = WorkList()
  let isStepwise = true

  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    for _ in 0..<count { (work is OperationQueue ? visits : blocks).append(work) }
  }

  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    submit(work, count: count, on: workerClass)
  }

  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int { blocks.remove(work) }

  /// Lets the queue start one operation; false if it starts none.
  func step() -> Bool { visits.runFirst() }

  /// Calls one completion block; false if there is none.
  func callCompletionBlock() -> Bool { blocks.runFirst() }

  /// The queue requests a thread again and again and has nothing to start.
  var isAskedForEver: Bool { visits.isEndless }
}

/// Work that waits.
private final class WorkList: Sendable {
  private let works = Mutex<[any PoolWork]>([])
  private let endless = Atomic<Bool>(false)

  var isEndless: Bool { endless.load(ordering: .relaxed) }

  func append(_ work: any PoolWork) { works.withLock { $0.append(work) } }

  /// Removes all entries of a piece of work; returns how many there were.
  func remove(_ work: any PoolWork) -> Int {
    works.withLock { works in
      let count = works.count
      works.removeAll { $0 === work }
      return count - works.count
    }
  }

  /// Runs the first entry that finds work.
  ///
  /// Some do not: a queue that could have started an operation when it made the request, a helper of blocks that have
  /// run.
  func runFirst() -> Bool {
    // More than a queue of a program could request in vain: some for each change of its state.
    for _ in 0..<1_000 {
      guard let work = works.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
      if work.runOnWorker(of: nil, atMost: 1) { return true }
    }
    endless.store(true, ordering: .relaxed)
    return false
  }
}
