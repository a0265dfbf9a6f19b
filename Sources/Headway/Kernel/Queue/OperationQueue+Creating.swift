extension OperationQueue {
  /// Configures a new queue.
  final func configure(name: String?, order: QueueOrder, _ quality: QualityOfService) {
    startsInOrder = order == .fifo
    let serialExecutor = startsInOrder ? QueueSerialExecutor(self) : nil
    state.withLock { state in
      state.name = name
      setQuality(quality, &state)
      guard startsInOrder else { return }
      state.serialExecutor = serialExecutor
      state.admission.order = .fifo
      state.admission.limit = 1
      state.maxConcurrentOperationCount = 1
    }
  }
}

extension OperationQueueProtocol {
  /// How the queue chooses the next operation to start.
  @_disfavoredOverload
  public var order: QueueOrder { startsInOrder ? .fifo : .priority }
}
