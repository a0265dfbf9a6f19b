import Synchronization

/// The number of workers of all classes, and its limit.
enum ThreadLimit {
  private static let count = Atomic<Int>(0)
  private static let limit = Atomic<Int>(512)
  /// The classes that were denied a thread and still need it: one bit per class.
  ///
  /// Set and cleared under the lock of the class's pool. A class sets its bit before it searches for workers of other
  /// classes that can give up their threads, under their locks. A worker reads the bits before it takes work or falls
  /// asleep, under its pool's lock.
  private static let hungry = Atomic<UInt8>(0)
  /// The classes among them that have no worker at all: one bit per class.
  private static let starving = Atomic<UInt8>(0)

  /// The maximum number of workers.
  static var current: Int {
    get { limit.load(ordering: .relaxed) }
    set { limit.store(newValue, ordering: .relaxed) }
  }

  /// Counts one more thread.
  ///
  /// Fails if the limit is reached, or if a more urgent class waits for a thread.
  ///
  /// Called under the lock of the class's pool.
  ///
  /// - Parameters:
  ///   - workerClass: The class that needs a thread.
  ///   - isFirst: Whether the class has no worker.
  /// - Returns: Whether the thread can be created.
  static func takeThread(for workerClass: WorkerClass, isFirst: Bool) -> Bool {
    if !isHungry(workerClass.moreUrgent), takeThread() { return true }
    // Try again after setting the bit, because a worker that gave up its thread before has not seen it.
    if isFirst {
      starving.bitwiseOr(workerClass.bit, ordering: .sequentiallyConsistent)
    } else {
      starving.bitwiseAnd(~workerClass.bit, ordering: .sequentiallyConsistent)
    }
    hungry.bitwiseOr(workerClass.bit, ordering: .sequentiallyConsistent)
    return !isHungry(workerClass.moreUrgent) && takeThread()
  }

  private static func takeThread() -> Bool {
    if count.add(1, ordering: .sequentiallyConsistent).newValue <= current { return true }
    giveThread()
    return false
  }

  /// Counts one thread less.
  static func giveThread() { count.subtract(1, ordering: .sequentiallyConsistent) }

  /// Whether one of the given classes, one bit per class, was denied a thread.
  static func isHungry(_ classes: UInt8) -> Bool { hungry.load(ordering: .sequentiallyConsistent) & classes != 0 }

  /// Whether a worker of a class must give up its thread to a more urgent class, even if there is work for it.
  ///
  /// The last worker at work gives up its thread only for a class that has no worker, because operations of that class
  /// might wait for work of this worker's class.
  static func isWantedByMoreUrgent(than workerClass: WorkerClass, isLast: Bool) -> Bool {
    isHungry(workerClass.moreUrgent)
      && (!isLast || starving.load(ordering: .sequentiallyConsistent) & workerClass.moreUrgent != 0)
  }

  /// Clears the bits of a class that has all the threads it needs.
  ///
  /// Returns whether it had been denied one.
  ///
  /// Called under the lock of the class's pool.
  static func satisfy(_ workerClass: WorkerClass) -> Bool {
    guard isHungry(workerClass.bit) else { return false }
    starving.bitwiseAnd(~workerClass.bit, ordering: .sequentiallyConsistent)
    hungry.bitwiseAnd(~workerClass.bit, ordering: .sequentiallyConsistent)
    return true
  }
}
