/// When an operation may start, how long it may take, and which resources it uses.
///
/// ```swift
/// let page = TaskOperation { try await fetch(addresses[0]) }
/// page.policy = OperationPolicy(timeout: .seconds(10), exclusiveResources: ["uplink"])
/// queue.addOperation(page)
/// ```
///
/// A policy applies in a queue. An operation that you start manually ignores it.
public struct OperationPolicy: Sendable, Hashable, Codable {
  /// How long the operation waits, at least, after it is added to a queue; nil to start as soon as possible.
  public var delay: Duration?
  /// How long the work may run; nil for no limit.
  ///
  /// An operation that runs longer fails with a ``TimeLimitError`` and is cancelled. If the operation repeats its
  /// function, this limit applies to each attempt: an attempt that takes longer is cancelled, and fails with that
  /// error.
  public var timeout: Duration?
  /// The time within which the operation must finish after it is added to a queue; nil for no limit.
  ///
  /// An operation that has not finished by then fails with a ``TimeLimitError`` and is cancelled, even if it has not
  /// started.
  public var totalTimeout: Duration?
  /// The names of the resources that only this operation may use while it runs.
  ///
  /// Operations that have a name in common never run at the same time, in any queue of the process.
  public var exclusiveResources: Set<String>
  /// The names of the resources that this operation shares with operations that also list them here.
  ///
  /// An operation that has one of these names among its ``exclusiveResources`` does not run at the same time.
  public var sharedResources: Set<String>
  /// What the operation has in common with others of its queue, such as a customer or a server; nil for nothing.
  ///
  /// The keys of a queue are served in turn: of several ready operations with the same priority, that of the key that
  /// has waited longest for its turn starts next. So many operations of one key delay those of another only a little.
  /// An operation without a key counts as one that has a key of its own. The policy of the key can also limit its
  /// operations: see ``KeyPolicy``.
  ///
  /// A key has no effect on barriers, and in a queue with the order ``QueueOrder/fifo``.
  public var key: String?

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - delay: How long the operation waits, at least, after it is added to a queue.
  ///   - timeout: How long the work may run.
  ///   - totalTimeout: The time within which the operation must finish after it is added to a queue.
  ///   - exclusiveResources: The names of the resources that only this operation may use while it runs.
  ///   - sharedResources: The names of the resources that this operation shares with operations that also share them.
  ///   - key: What the operation has in common with others of its queue, such as a customer or a server.
  public init(
    delay: Duration? = nil, timeout: Duration? = nil, totalTimeout: Duration? = nil,
    exclusiveResources: Set<String> = [], sharedResources: Set<String> = [], key: String? = nil
  ) {
    (self.delay, self.timeout, self.totalTimeout) = (delay, timeout, totalTimeout)
    (self.exclusiveResources, self.sharedResources, self.key) = (exclusiveResources, sharedResources, key)
  }

  /// Whether the policy limits nothing.
  var isEmpty: Bool {
    delay == nil && timeout == nil && totalTimeout == nil && exclusiveResources.isEmpty && sharedResources.isEmpty
      && key == nil
  }
}
