extension OperationQueueExtensions {
  /// How many threads the library makes at most for operations, for all queues of the process together; 512 unless it
  /// is set.
  ///
  /// So many are there only if so many operations block: busy operations take about as many as there are processors.
  /// When the limit is reached, work waits for a thread to come back, and gets it by its quality of service. Queues
  /// report that with ``OperationQueueEvent/threadLimitReached(limit:)``. Lowering the limit ends no thread. One more
  /// thread may look after the others, and runs no operation.
  ///
  /// - Precondition: At least 1.
  @_disfavoredOverload
  public static var maximumThreadCount: Int {
    get { ThreadLimit.current }
    set {
      require(newValue > 0, "maximumThreadCount was set to \(newValue): operations need at least one thread.")
      ThreadLimit.current = newValue
      WorkerPool.serveHungry()
    }
  }
}
