import Synchronization

/// The workers of all classes, counted, and how many there may be.
enum ThreadLimit {
  private static let count = Atomic<Int>(0)
  private static let limit = Atomic<Int>(512)

  /// How many there may be.
  static var current: Int {
    get { limit.load(ordering: .relaxed) }
    set { limit.store(newValue, ordering: .relaxed) }
  }

  /// Counts one more; fails when there are as many as there may be.
  static func takeThread() -> Bool {
    guard count.add(1, ordering: .relaxed).newValue > current else { return true }
    giveThread()
    return false
  }

  /// Counts one less.
  static func giveThread() { count.subtract(1, ordering: .relaxed) }
}

extension OperationQueueExtensions {
  /// How many threads the library makes at most, for all queues of the process together; 512 unless it is set.
  ///
  /// So many are there only if so many operations block: busy operations take as many as there are processors. When the
  /// limit is reached, work waits for a thread to come back, and queues tell of it with
  /// ``OperationQueue/Event/threadLimitReached(limit:)``. Lowering it ends no thread.
  ///
  /// - Precondition: At least 1.
  public static var maximumThreadCount: Int {
    get { ThreadLimit.current }
    set {
      require(newValue > 0, "maximumThreadCount was set to \(newValue): operations need at least one thread.")
      ThreadLimit.current = newValue
    }
  }
}
