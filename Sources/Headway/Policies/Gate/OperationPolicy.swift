/// When an operation may start, how long it may take, how often it is repeated, and which resources it uses.
///
/// ```swift
/// let page = TaskOperation { try await fetch(addresses[0]) }
/// page.policy = OperationPolicy(timeout: .seconds(10), exclusiveResources: ["uplink"])
/// queue.addOperation(page)
/// ```
///
/// For the operation of an asynchronous function, you can also write these settings as options:
/// `queue.addTask(.timeout(.seconds(10)), .exclusiveResources("uplink")) { … }`.
///
/// A policy applies in a queue. Only ``retry`` also applies to an operation that you start manually.
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
  ///
  /// Setting it takes O(*n*) in the number of all names. If many operations use the same resources, create one policy,
  /// and set it for each of them.
  public var exclusiveResources: Set<String> {
    get { resources?.exclusiveNames ?? [] }
    set { resources = ResourceList(exclusive: newValue, shared: sharedResources) }
  }
  /// The names of the resources that this operation shares with operations that also list them here.
  ///
  /// An operation that has one of these names among its ``exclusiveResources`` does not run at the same time.
  public var sharedResources: Set<String> {
    get { resources?.sharedNames ?? [] }
    set { resources = ResourceList(exclusive: exclusiveResources, shared: newValue) }
  }
  /// The name of the customer, the server, or another group that the operation belongs to; nil for none.
  ///
  /// The keys of a queue take turns. Of the ready operations with the highest priority, the one whose key has waited
  /// longest for its turn starts next. As a result, a key with many operations delays other keys only a little. An
  /// operation without a key is treated as if it had its own key. You can also limit the operations of a key: see
  /// ``KeyPolicy``.
  ///
  /// Keys have no effect on barriers, or in a queue with the order ``QueueOrder/fifo``.
  public var key: String?
  /// How often the function of a ``TaskOperation`` is repeated if it fails; nil to call it once.
  ///
  /// An operation of another class can't run again, so setting a policy with this value stops the process with a
  /// message. See ``OperationOption/retry(_:if:using:)``, which can also select the errors that are worth another
  /// attempt. If you set another policy with retries afterward, that selection stays.
  public var retry: RetryPolicy? {
    get { if case .policy(let policy) = storedRetry { policy } else { nil } }
    set { storedRetry = newValue.map(StoredRetry.policy) }
  }
  /// The resources; nil for none.
  private(set) var resources: ResourceList?
  private var storedRetry: StoredRetry?

  /// A retry policy outside of this value, which most operations with a policy would have to keep room for.
  private indirect enum StoredRetry: Sendable, Hashable {
    case policy(RetryPolicy)
  }

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - delay: How long the operation waits, at least, after it is added to a queue.
  ///   - timeout: How long the work may run.
  ///   - totalTimeout: The time within which the operation must finish after it is added to a queue.
  ///   - exclusiveResources: The names of the resources that only this operation may use while it runs.
  ///   - sharedResources: The names of the resources that this operation shares with operations that also share them.
  ///   - key: The name of the customer, the server, or another group that the operation belongs to.
  ///   - retry: How often the function of a ``TaskOperation`` is repeated if it fails.
  public init(
    delay: Duration? = nil, timeout: Duration? = nil, totalTimeout: Duration? = nil,
    exclusiveResources: Set<String> = [], sharedResources: Set<String> = [], key: String? = nil,
    retry: RetryPolicy? = nil
  ) {
    (self.delay, self.timeout, self.totalTimeout) = (delay, timeout, totalTimeout)
    (self.key, resources) = (key, ResourceList(exclusive: exclusiveResources, shared: sharedResources))
    storedRetry = retry.map(StoredRetry.policy)
  }

  /// Creates a policy with a delay, a list of resources, and a key.
  init(delay: Duration?, _ resources: ResourceList?, key: String?) {
    (self.delay, self.resources, self.key) = (delay, resources, key)
  }

  /// Whether the policy limits nothing.
  var isEmpty: Bool {
    delay == nil && timeout == nil && totalTimeout == nil && resources == nil && key == nil && storedRetry == nil
  }
}

extension OperationPolicy {
  private enum CodingKeys: CodingKey {
    case delay, timeout, totalTimeout, exclusiveResources, sharedResources, key, retry
  }

  /// Creates a policy by decoding it.
  ///
  /// - Parameter decoder: The decoder to read the values from.
  /// - Throws: An error if a value has the wrong type. A missing value means the default.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      delay: try values.decodeIfPresent(Duration.self, forKey: .delay),
      timeout: try values.decodeIfPresent(Duration.self, forKey: .timeout),
      totalTimeout: try values.decodeIfPresent(Duration.self, forKey: .totalTimeout),
      exclusiveResources: try values.decodeIfPresent(Set<String>.self, forKey: .exclusiveResources) ?? [],
      sharedResources: try values.decodeIfPresent(Set<String>.self, forKey: .sharedResources) ?? [],
      key: try values.decodeIfPresent(String.self, forKey: .key),
      retry: try values.decodeIfPresent(RetryPolicy.self, forKey: .retry))
  }

  /// Encodes the policy.
  ///
  /// - Parameter encoder: The encoder to write the values to.
  /// - Throws: An error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encodeIfPresent(delay, forKey: .delay)
    try values.encodeIfPresent(timeout, forKey: .timeout)
    try values.encodeIfPresent(totalTimeout, forKey: .totalTimeout)
    try values.encode(exclusiveResources, forKey: .exclusiveResources)
    try values.encode(sharedResources, forKey: .sharedResources)
    try values.encodeIfPresent(key, forKey: .key)
    try values.encodeIfPresent(retry, forKey: .retry)
  }
}
