extension OperationQueue {
  /// Creates a queue that holds nothing, with its settings.
  ///
  /// ```swift
  /// let queue = OperationQueue(name: "thumbnails", maxConcurrentOperationCount: 4)
  /// ```
  ///
  /// - Parameters:
  ///   - name: What to call the queue in descriptions and messages.
  ///   - maxConcurrentOperationCount: How many operations run at once, at most; by default the system decides.
  ///   - qualityOfService: How important its work is to the user.
  /// - Precondition: `maxConcurrentOperationCount` is not below -1.
  public convenience init(
    name: String?, maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    qualityOfService: QualityOfService = .default
  ) {
    self.init(named: name, order: .priority, qualityOfService)
    self.maxConcurrentOperationCount = maxConcurrentOperationCount
  }

  /// Creates a queue that holds nothing and starts its operations in an order.
  ///
  /// ```swift
  /// let log = OperationQueue(name: "log", order: .fifo)
  /// log.addOperation { print("first") }
  /// log.addOperation { print("second") }
  /// ```
  ///
  /// - Parameters:
  ///   - name: What to call the queue in descriptions and messages.
  ///   - order: The order.
  ///   - qualityOfService: How important its work is to the user.
  public convenience init(
    name: String? = nil, order: QueueOrder, qualityOfService: QualityOfService = .default
  ) {
    self.init(named: name, order: order, qualityOfService)
  }

  private convenience init(named name: String?, order: QueueOrder, _ quality: QualityOfService) {
    self.init()
    state.withLock { state in
      state.name = name
      state.setPlacement(quality: quality)
      guard order == .fifo else { return }
      state.admission.order = .fifo
      state.admission.limit = 1
      state.maxConcurrentOperationCount = 1
    }
  }

  /// In which order the queue starts its operations.
  public final var order: QueueOrder { state.withLock { $0.admission.order } }
}
