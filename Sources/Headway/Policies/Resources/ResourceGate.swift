import Synchronization

/// The gate of an operation that needs resources, and the operation's request for them.
///
/// The lock of the ``ResourceTable`` protects the mutable properties. While the request does not wait, the thread that
/// has taken the operation can change it without the lock.
class ResourceGate: OperationGate, @unchecked Sendable {
  /// The state of the request.
  enum State: UInt8, AtomicRepresentable {
    /// Holds nothing and does not wait.
    case idle
    case waiting
    /// Waits and was returned because it can be granted.
    case offered
    case holding
  }

  /// The resources; nil if the policy names none.
  final let resources: ResourceList?
  /// Atomic, because other threads can read it under the lock.
  private final let state = Atomic<State>(.idle)
  /// The position in the order of requests: lower numbers are first; 0 if the operation has not begun to wait.
  @exclusivity(unchecked) final var requestNumber: UInt64 = 0
  /// How many waits of the request have ended.
  @exclusivity(unchecked) final var endedWaits: UInt32 = 0
  /// The level of quality of service that the request has raised others to, because they keep it waiting.
  @exclusivity(unchecked) final var raisingLevel: UInt8 = 0

  init(_ resources: ResourceList?, delay: Int64, limitsTime: Bool = false, of operation: Operation) {
    self.resources = resources
    super.init(delay: delay, limitsTime: limitsTime, of: operation)
  }

  final var request: State {
    get { state.load(ordering: .relaxed) }
    set { state.store(newValue, ordering: .relaxed) }
  }

  final override var needingResources: ResourceGate? { resources == nil ? nil : self }
}
