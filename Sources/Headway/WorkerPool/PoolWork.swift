/// Something for which a worker can come.
package protocol PoolWork: AnyObject, Sendable {
  /// For what it is done: a worker that is at it works for all that has the same owner.
  var owner: ObjectIdentifier { get }

  /// Does what there is to do, on the worker's thread; of something that has many parts, at most so many.
  ///
  /// - Parameters:
  ///   - workerClass: The class of the worker; nil on the threads of another executor.
  ///   - count: How many parts at most.
  /// - Returns: Whether there was anything to do.
  @discardableResult
  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool

  /// Whether it does anything when ``threadLimitWasReached(_:)`` is called.
  var reportsThreadLimit: Bool { get }

  /// It waits for a thread, and no more may be made.
  ///
  /// - Parameter limit: How many threads there may be.
  func threadLimitWasReached(_ limit: Int)
}

extension PoolWork {
  package var owner: ObjectIdentifier { ObjectIdentifier(self) }

  package var reportsThreadLimit: Bool { false }

  package func threadLimitWasReached(_ limit: Int) {}
}

/// Work that a thread has begun, and other threads may help to do.
///
/// It waits in one place, however many helpers it asks for, and is withdrawn from there when it is done. So finished
/// work leaves nothing in the way of other work. A thread that asks for helpers then checks whether the work is done,
/// and if so withdraws it (`Models/helpers.pml`).
package protocol HelpedWork: PoolWork {
  /// Where it waits for helpers.
  ///
  /// Protected by the lock of the executor.
  var place: Int? { get set }
}

/// That which runs work: the pool of threads, or a stand-in for it.
package protocol WorkExecutor: AnyObject, Sendable {
  /// Runs `work` so many times, on threads of a class.
  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass)

  /// Sends so many more threads of a class to help.
  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass)

  /// Sends no further threads of a class to help.
  ///
  /// - Returns: How many were still to come.
  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int

  /// Whether it runs nothing by itself, but when a test takes the next step.
  var isStepwise: Bool { get }
}

extension WorkExecutor {
  package var isStepwise: Bool { false }

  /// Runs `work` so many times on normal threads.
  package func submit(_ work: any PoolWork, count: Int) { submit(work, count: count, on: .normal) }
}

/// A block as a piece of work, to be submitted once.
final class PoolBlock: PoolWork, @unchecked Sendable {  // Only the thread that runs it uses the block.
  /// Until it runs, so that the thread which has submitted it does not release what the block captures.
  @exclusivity(unchecked) private var block: (@Sendable () -> Void)?
  private let knownOwner: ObjectIdentifier?

  var owner: ObjectIdentifier { knownOwner ?? ObjectIdentifier(self) }

  /// - Parameters:
  ///   - owner: For what the block is called; nil for itself.
  ///   - block: What to call.
  init(for owner: AnyObject? = nil, _ block: @escaping @Sendable () -> Void) {
    (self.block, knownOwner) = (block, owner.map { ObjectIdentifier($0) })
  }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    guard let block = block.take() else { return false }
    block()
    return true
  }
}
