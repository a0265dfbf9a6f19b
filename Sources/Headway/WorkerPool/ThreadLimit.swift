import Synchronization

/// The workers of all classes, counted, and how many there may be.
enum ThreadLimit {
  private static let count = Atomic<Int>(0)
  private static let limit = Atomic<Int>(512)
  /// A bit for each class that was refused a thread.
  ///
  /// A class says so before it looks for sleeping workers of others, under their locks; a worker looks before it falls
  /// asleep, under its pool's lock.
  private static let hungry = Atomic<UInt8>(0)

  /// How many there may be.
  static var current: Int {
    get { limit.load(ordering: .relaxed) }
    set { limit.store(newValue, ordering: .relaxed) }
  }

  /// Counts one more; fails when there are as many as there may be.
  static func takeThread(for workerClass: WorkerClass) -> Bool {
    if takeThread() { return true }
    // Tried again when that has been said: a worker that gave its place back before has not seen it.
    hungry.bitwiseOr(workerClass.bit, ordering: .sequentiallyConsistent)
    guard takeThread() else { return false }
    _ = satisfy(workerClass)
    return true
  }

  private static func takeThread() -> Bool {
    if count.add(1, ordering: .sequentiallyConsistent).newValue <= current { return true }
    giveThread()
    return false
  }

  /// Counts one less.
  static func giveThread() { count.subtract(1, ordering: .sequentiallyConsistent) }

  /// Whether another class was refused a thread.
  static func hasHungry(but workerClass: WorkerClass) -> Bool {
    hungry.load(ordering: .sequentiallyConsistent) & ~workerClass.bit != 0
  }

  /// Forgets that a class was refused a thread; returns whether it was.
  static func satisfy(_ workerClass: WorkerClass) -> Bool {
    guard hungry.load(ordering: .sequentiallyConsistent) & workerClass.bit != 0 else { return false }
    return hungry.bitwiseAnd(~workerClass.bit, ordering: .sequentiallyConsistent).oldValue & workerClass.bit != 0
  }
}

extension OperationQueueExtensions {
  /// How many threads the library makes at most for operations, for all queues of the process together; 512 unless it
  /// is set.
  ///
  /// So many are there only if so many operations block: busy operations take about as many as there are processors.
  /// When the limit is reached, work waits for a thread to come back, and queues report it with
  /// ``OperationQueue/Event/threadLimitReached(limit:)``. Lowering it ends no thread. One more thread may look after
  /// the others, and runs no operation.
  ///
  /// - Precondition: At least 1.
  public static var maximumThreadCount: Int {
    get { ThreadLimit.current }
    set {
      require(newValue > 0, "maximumThreadCount was set to \(newValue): operations need at least one thread.")
      ThreadLimit.current = newValue
      WorkerPool.serveHungry()
    }
  }
}
