extension OperationQueueProtocol {
  /// The maximum number of threads that Headway creates for operations, for all queues of the process together.
  ///
  /// The default is 512. Headway creates that many threads only if as many operations block: busy operations need about
  /// one thread per processor. When the limit is reached, work waits until a thread is free. More urgent work gets a
  /// thread first. Queues report this as ``OperationQueueEvent/threadLimitReached(limit:)``. Lowering the limit does
  /// not end existing threads. One more thread may manage Headway's threads; it runs no operation.
  ///
  /// - Precondition: The value is 1 or more.
  @_disfavoredOverload
  public static var maxThreadCount: Int {
    get { ThreadLimit.current }
    set {
      require(newValue > 0, "maxThreadCount was set to \(newValue): operations need at least one thread.")
      ThreadLimit.current = newValue
      WorkerPool.serveHungry()
    }
  }
}
