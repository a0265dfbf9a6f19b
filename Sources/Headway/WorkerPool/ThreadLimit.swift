import Synchronization

/// The workers of all classes, counted, and how many there may be.
enum ThreadLimit {
  private static let count = Atomic<Int>(0)
  private static let limit = Atomic<Int>(512)
  /// A bit for each class that was refused a thread, and still wants it.
  ///
  /// Set and cleared under the lock of the class's pool. A class says so before it looks for workers of others that may
  /// give up their threads, under their locks; a worker looks before it takes work or falls asleep, under its pool's
  /// lock.
  private static let hungry = Atomic<UInt8>(0)
  /// A bit for each of those classes that has no worker at all.
  private static let starving = Atomic<UInt8>(0)

  /// How many there may be.
  static var current: Int {
    get { limit.load(ordering: .relaxed) }
    set { limit.store(newValue, ordering: .relaxed) }
  }

  /// Counts one more; fails when there are as many as there may be, or a more urgent class waits for one.
  ///
  /// Under the lock of the class's pool.
  ///
  /// - Parameters:
  ///   - workerClass: The class.
  ///   - isFirst: It has no worker.
  /// - Returns: Whether the thread may be made.
  static func takeThread(for workerClass: WorkerClass, isFirst: Bool) -> Bool {
    if !isHungry(workerClass.moreUrgent), takeThread() { return true }
    // Tried again when that has been said: a worker that gave its place back before has not seen it.
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

  /// Counts one less.
  static func giveThread() { count.subtract(1, ordering: .sequentiallyConsistent) }

  /// Whether one of some classes, given by their bits, was refused a thread.
  static func isHungry(_ classes: UInt8) -> Bool { hungry.load(ordering: .sequentiallyConsistent) & classes != 0 }

  /// Whether a worker of a class is to give its thread up to a more urgent class, although there may be work for it.
  ///
  /// The last one at work does so only for a class that has no worker: what that class waits for may be the work of
  /// this one.
  static func isWantedByMoreUrgent(than workerClass: WorkerClass, isLast: Bool) -> Bool {
    isHungry(workerClass.moreUrgent)
      && (!isLast || starving.load(ordering: .sequentiallyConsistent) & workerClass.moreUrgent != 0)
  }

  /// Says that a class has all the threads that it wants; returns whether it was refused one before.
  ///
  /// Under the lock of the class's pool.
  static func satisfy(_ workerClass: WorkerClass) -> Bool {
    guard isHungry(workerClass.bit) else { return false }
    starving.bitwiseAnd(~workerClass.bit, ordering: .sequentiallyConsistent)
    hungry.bitwiseAnd(~workerClass.bit, ordering: .sequentiallyConsistent)
    return true
  }
}
