/// When an operation may start, how long it may take, and what it must not share with others.
///
/// ```swift
/// let page = TaskOperation { try await fetch(addresses[0]) }
/// page.policy = OperationPolicy(timeout: .seconds(10), exclusiveResources: ["uplink"])
/// queue.addOperation(page)
/// ```
///
/// A policy applies in a queue. An operation that you start manually ignores it.
public struct OperationPolicy: Sendable, Hashable, Codable {
  /// How long the operation waits, at least, after it was added to a queue; nil to start as soon as possible.
  public var delay: Duration?
  /// How long the work may run; nil for no limit.
  ///
  /// An operation that runs longer fails with a ``TimeLimitError`` and is cancelled.
  public var timeout: Duration?
  /// How long after the operation was added it must have finished; nil for no limit.
  ///
  /// An operation that has not finished by then fails with a ``TimeLimitError`` and is cancelled, even if it has not
  /// started.
  public var totalTimeout: Duration?
  /// The names of what only this operation may use while it runs.
  ///
  /// Operations that have a name in common never run at the same time, in any queue of the process.
  public var exclusiveResources: Set<String>
  /// The names of what this operation may share with others that have the name here, too.
  ///
  /// An operation that has one of these names among its ``exclusiveResources`` does not run at the same time.
  public var sharedResources: Set<String>

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - delay: How long the operation waits, at least, after it was added to a queue.
  ///   - timeout: How long the work may run.
  ///   - totalTimeout: How long after it was added the operation must have finished.
  ///   - exclusiveResources: The names of what only this operation may use while it runs.
  ///   - sharedResources: The names of what it may share with others that share it, too.
  public init(
    delay: Duration? = nil, timeout: Duration? = nil, totalTimeout: Duration? = nil,
    exclusiveResources: Set<String> = [], sharedResources: Set<String> = []
  ) {
    (self.delay, self.timeout, self.totalTimeout) = (delay, timeout, totalTimeout)
    (self.exclusiveResources, self.sharedResources) = (exclusiveResources, sharedResources)
  }

  /// Whether the policy limits nothing.
  var isEmpty: Bool {
    delay == nil && timeout == nil && totalTimeout == nil && exclusiveResources.isEmpty && sharedResources.isEmpty
  }
}
