/// The gate of an operation that has a key, and the state of the operation in the lane of the key.
///
/// The queue's lock protects the state, except for the properties that are set when the operation ends, before the lock
/// is acquired.
class KeyGate: ResourceGate, @unchecked Sendable {
  enum Use {
    /// Neither running nor about to start.
    case none
    /// The operation has its resources and a slot and is about to start.
    case granted
    case running
    /// In a batch. The lane had no limits when the batch took the operation.
    case taken

    /// Whether the operation is in a list of the lane: see ``KeyLane/started``.
    var isListed: Bool { self == .granted || self == .running }
  }

  /// The key; nil if the operation has none.
  final let key: String?
  /// The lane, set when the operation first becomes ready.
  ///
  /// Nil before then, and after the operation has left the queue. If it has ended in a batch, this is the lane that it
  /// had.
  @exclusivity(unchecked) final var lane: KeyLane?
  /// The turn of the lane, if the operation represents it, or did before it was taken.
  @exclusivity(unchecked) final var turn: UInt64 = 0
  /// Whether the operation is one of the lane's ready operations.
  @exclusivity(unchecked) final var isReady = false
  /// How the operation counts toward the limits of the lane.
  @exclusivity(unchecked) final var use = Use.none
  /// The position of the operation among the operations that count, if it counts.
  @exclusivity(unchecked) final var startedPosition = 0
  /// How the operation or its attempt has started; nil after its result has been noted.
  @exclusivity(unchecked) final var start: KeyLaneLimits.Start?

  // Set before the operation acquires the lock to leave its queue.
  @exclusivity(unchecked) final var endTime = ClockTime.min
  @exclusivity(unchecked) final var result = BreakerState.Result.neither

  init(_ key: String?, _ resources: ResourceList?, delay: Int64, limitsTime: Bool = false, of operation: Operation) {
    self.key = key
    super.init(resources, delay: delay, limitsTime: limitsTime, of: operation)
  }

  final override var laneMember: KeyGate? { key == nil ? nil : self }

  override func end(in home: Unmanaged<OperationQueue>?) {
    super.end(in: home)
    // If limits were set before the operation started, this thread finds that the queue needs the time: operations
    // start under the queue's lock. Limits that were set later ignore the operation.
    guard key != nil, let now = home?._withUnsafeGuaranteedRef({ $0.startTime?.now }) else { return }
    endTime = now
    result =
      switch target.outcome {
      case .success: .success
      case .failure(let error): BreakerState.Result(of: error)
      case .cancelled, nil: .neither
      }
  }
}
