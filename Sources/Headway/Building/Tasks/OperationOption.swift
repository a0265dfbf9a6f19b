/// A setting of an operation that runs an asynchronous function: its name, priority, policy, or dependencies.
///
/// ```swift
/// let page = queue.addTask("load", .retry(.exponential(maxAttemptCount: 5)), .timeout(.seconds(10))) {
///   try await fetch(addresses[0])
/// }
/// let image = queue.addTask("render", .priority(.high), .dependingOn(page)) { try await render(page.value) }
/// ```
///
/// A string literal is the ``name(_:)`` of the operation. If an option occurs twice, the later one takes precedence.
/// Dependencies are added to the earlier dependencies. To use the same options for several operations, store them:
///
/// ```swift
/// let bulk: [OperationOption] = [.priority(.low), .qualityOfService(.utility), .timeout(.seconds(30))]
/// for address in addresses { queue.addTask(.options(bulk)) { _ = try await fetch(address) } }
/// ```
public struct OperationOption: Sendable {
  let apply: @Sendable (inout OperationSettings) -> Void

  /// Several options, for example a prepared list.
  ///
  /// - Parameter options: The options to combine. They take precedence over options that come before this one.
  /// - Returns: The options as one option.
  public static func options(_ options: [OperationOption]) -> Self {
    Self { settings in for option in options { option.apply(&settings) } }
  }

  /// Sets the operation's name in descriptions and messages.
  ///
  /// - Parameter name: The name; nil for none.
  /// - Returns: An option with this setting.
  public static func name(_ name: String?) -> Self { Self { $0.name = name } }

  /// Sets the priority among the ready operations of the queue.
  ///
  /// - Parameter priority: Operations with a higher priority start first. Without this option, it is
  ///   ``QueuePriority/normal``.
  /// - Returns: An option with this setting.
  public static func priority(_ priority: QueuePriority) -> Self { Self { $0.priority = priority } }

  /// Sets how important the work is to the user.
  ///
  /// - Parameter quality: The quality of service. Without this option, it matches the priority of the current task.
  /// - Returns: An option with this setting.
  public static func qualityOfService(_ quality: QualityOfService) -> Self { Self { $0.qualityOfService = quality } }

  /// Makes the operation wait for other operations.
  ///
  /// - Parameters:
  ///   - dependencies: The operations that must finish first. An operation that waits for them counts toward
  ///     ``OperationQueueProtocol/maxOperationCount``.
  ///   - requirement: The outcome that the new operation requires of the dependencies. With
  ///     ``DependencyRequirement/success``, if one of them fails or is cancelled, the new operation is cancelled, with
  ///     a ``DependencyError`` that names it.
  /// - Returns: An option with these dependencies. Several of these options can have different requirements. For an
  ///   operation that occurs twice, both requirements apply.
  public static func dependingOn(
    _ dependencies: Operation..., requiring requirement: DependencyRequirement = .success
  ) -> Self { dependingOn(dependencies, requiring: requirement) }

  /// Makes the operation wait for all operations of a list.
  ///
  /// - Parameters:
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of the dependencies.
  /// - Returns: An option with this setting.
  public static func dependingOn(
    _ dependencies: [Operation], requiring requirement: DependencyRequirement = .success
  ) -> Self { Self { $0.dependencies += dependencies.map { ($0, requirement) } } }

  // MARK: The policy

  /// Sets the whole policy: when the operation may start, how long it may take, and which resources it uses.
  ///
  /// - Parameter policy: The policy to use. Options after this one change it.
  /// - Returns: An option with this setting.
  public static func policy(_ policy: OperationPolicy) -> Self { Self { $0.policy = policy } }

  /// Repeats the function if it fails.
  ///
  /// From the outside, it is one operation. While the operation waits for its next attempt, it holds no thread. It also
  /// holds no concurrency slot and no resources, unless ``RetryPolicy/keepsSlot`` is true. Cancelling it stops the wait
  /// immediately. The timeout and the resources of its policy, and the rate limit of the queue, apply to each attempt.
  ///
  /// ```swift
  /// queue.addTask(.retry(.exponential(maxAttemptCount: 5), if: { !($0 is DecodingError) })) {
  ///   try await fetch(addresses[0])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - retry: How often the function is repeated, and how long the pauses are. The
  ///     ``OperationQueueDynamicMembers/clock`` of the queue measures the pauses.
  ///   - isRetried: Returns whether an error is worth another attempt. The operation calls it in its task. By default,
  ///     every error is retried, except a ``RetryableError`` whose ``RetryableError/isRetryable`` is false.
  ///   - generator: The source of randomness for the jitter.
  /// - Returns: An option with this setting.
  /// - Precondition: The values of the policy are valid, as in its initializer.
  public static func retry(
    _ retry: RetryPolicy, if isRetried: (@Sendable (any Error) -> Bool)? = nil,
    using generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> Self {
    Self {
      $0.policy.retry = retry
      $0.retryChoice = RetryChoice(isRetried: isRetried, generator: generator)
    }
  }

  /// Sets how long the operation waits, at least, after it is added to a queue.
  ///
  /// - Parameter delay: The minimum time; not negative. Without this option, there is no delay.
  /// - Returns: An option with this setting.
  public static func delay(_ delay: Duration) -> Self { Self { $0.policy.delay = delay } }

  /// Sets how long the function, or each attempt, may run: see ``OperationPolicy/timeout``.
  ///
  /// - Parameter timeout: The maximum time; not negative. Without this option, there is no limit.
  /// - Returns: An option with this setting.
  public static func timeout(_ timeout: Duration) -> Self { Self { $0.policy.timeout = timeout } }

  /// Sets the time within which the operation must finish after it is added: see ``OperationPolicy/totalTimeout``.
  ///
  /// - Parameter timeout: The maximum time; not negative. Without this option, there is no limit.
  /// - Returns: An option with this setting.
  public static func totalTimeout(_ timeout: Duration) -> Self { Self { $0.policy.totalTimeout = timeout } }

  /// Names resources that only this operation may use while it runs: see ``OperationPolicy/exclusiveResources``.
  ///
  /// - Parameter names: The names of the resources.
  /// - Returns: An option with this setting.
  public static func exclusiveResources(_ names: String...) -> Self {
    Self { $0.policy.exclusiveResources.formUnion(names) }
  }

  /// Names resources that the operation shares with operations that also share them: see
  /// ``OperationPolicy/sharedResources``.
  ///
  /// - Parameter names: The names of the resources.
  /// - Returns: An option with this setting.
  public static func sharedResources(_ names: String...) -> Self {
    Self { $0.policy.sharedResources.formUnion(names) }
  }

  /// Sets the customer, the server, or another group that the operation belongs to: see ``OperationPolicy/key``.
  ///
  /// - Parameter key: The name of the group; nil for none.
  /// - Returns: An option with this setting.
  public static func key(_ key: String?) -> Self { Self { $0.policy.key = key } }
}

extension OperationOption: ExpressibleByStringInterpolation {
  /// Creates the option ``name(_:)``.
  ///
  /// - Parameter name: The operation's name.
  public init(stringLiteral name: String) { self = .name(name) }
}

/// The settings of an operation that a list of options makes.
///
/// See `Docs/decisions/0056-options-and-values.md`.
struct OperationSettings {
  var name: String?
  var priority = QueuePriority.normal
  var qualityOfService: QualityOfService?
  var policy = OperationPolicy()
  var retryChoice = RetryChoice()
  var dependencies: [(Operation, DependencyRequirement)] = []

  init(_ options: [OperationOption]) { for option in options { option.apply(&self) } }

  /// Configures a new operation.
  ///
  /// - Parameters:
  ///   - operation: The operation to configure. No queue has accepted it yet.
  ///   - work: Its entry in the table of coalescing keys, if calls can share the operation.
  func configure(_ operation: Operation, _ work: CoalescedWork? = nil) {
    if let name { operation.name = name }
    if priority != .normal { operation.queuePriority = priority }
    if let qualityOfService { operation.qualityOfService = qualityOfService }
    operation.setPolicy(policy, retryChoice, work)
    // Last, because a dependency that has failed finishes the operation.
    for (dependency, requirement) in dependencies { operation.addDependency(dependency, requiring: requirement) }
  }
}
