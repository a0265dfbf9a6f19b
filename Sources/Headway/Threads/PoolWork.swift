/// A piece of work that a worker can run.
package protocol PoolWork: AnyObject, Sendable {
  /// The owner of the work.
  ///
  /// A worker that runs it counts as working for everything that has the same owner.
  var owner: ObjectIdentifier { get }

  /// Does the work on the worker's thread.
  ///
  /// If the work has many parts, does at most `count` of them.
  ///
  /// - Parameters:
  ///   - workerClass: The class of the worker; nil on the threads of another executor.
  ///   - count: The maximum number of parts.
  /// - Returns: Whether there was anything to do.
  @discardableResult
  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool

  /// Whether ``threadLimitWasReached(_:)`` has any effect.
  var reportsThreadLimit: Bool { get }

  /// Reports that the work waits for a thread, but no further thread can be created.
  ///
  /// - Parameter limit: The maximum number of threads.
  func threadLimitWasReached(_ limit: Int)
}

extension PoolWork {
  package var owner: ObjectIdentifier { ObjectIdentifier(self) }

  package var reportsThreadLimit: Bool { false }

  package func threadLimitWasReached(_ limit: Int) {}
}

/// Work that a thread has begun, and that other threads can help with.
///
/// It waits in one place, regardless of how many helpers it requests, and is withdrawn from there when it is done. As a
/// result, finished work never blocks other work. A thread that requests helpers then checks whether the work is done,
/// and if so withdraws it (`Models/helpers.pml`).
package protocol HelpedWork: PoolWork {
  /// The place where the work waits for helpers.
  ///
  /// Protected by the lock of the executor.
  var place: Int? { get set }
}

/// An object that runs work: the pool of threads, or a substitute for it.
package protocol WorkExecutor: AnyObject, Sendable {
  /// Runs `work` `count` times, on threads of a class.
  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass)

  /// Requests `count` more threads of a class to help with `work`.
  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass)

  /// Withdraws the requests for threads of a class to help with `work`.
  ///
  /// - Returns: How many of the requested threads had not arrived yet.
  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int

  /// Whether the executor runs work only when a test takes the next step.
  var isStepwise: Bool { get }
}

extension WorkExecutor {
  package var isStepwise: Bool { false }

  /// Runs `work` `count` times on normal threads.
  package func submit(_ work: any PoolWork, count: Int) { submit(work, count: count, on: .normal) }
}

/// A block as a piece of work, to be submitted once.
final class PoolBlock: PoolWork, @unchecked Sendable {  // Only the thread that runs it accesses the block.
  /// Kept until it runs, so that the thread that submitted it does not release the block's captures.
  @exclusivity(unchecked) private var block: (@Sendable () -> Void)?
  private let knownOwner: ObjectIdentifier?

  var owner: ObjectIdentifier { knownOwner ?? ObjectIdentifier(self) }

  /// - Parameters:
  ///   - owner: The owner that the block works for; nil for the block itself.
  ///   - block: The block to call once.
  init(for owner: AnyObject? = nil, _ block: @escaping @Sendable () -> Void) {
    (self.block, knownOwner) = (block, owner.map { ObjectIdentifier($0) })
  }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    guard let block = block.take() else { return false }
    block()
    return true
  }
}
