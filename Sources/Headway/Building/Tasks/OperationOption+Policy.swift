// Each option sets a property of the operation's policy.

extension OperationOption {
  /// Sets the whole policy: when the operation may start, how long it may take, and which resources it uses.
  ///
  /// - Parameter policy: The policy. Options after this one change it.
  /// - Returns: The option.
  public static func policy(_ policy: OperationPolicy) -> Self { Self { $0.policy = policy } }

  /// Repeats the function if it fails.
  ///
  /// From the outside, it is one operation. While the operation waits for its next attempt, it holds no thread. It also
  /// holds no concurrency slot and no resources, unless ``RetryPolicy/keepsSlot`` is true. Cancelling it ends the wait
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
  ///     every error is, except a ``RetryableError`` whose ``RetryableError/isRetryable`` is false.
  ///   - generator: The source of randomness for the jitter.
  /// - Returns: The option.
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
  /// - Parameter delay: The time. It is not negative.
  /// - Returns: The option.
  public static func delay(_ delay: Duration) -> Self { Self { $0.policy.delay = delay } }

  /// Sets how long the function, or each attempt, may run: see ``OperationPolicy/timeout``.
  ///
  /// - Parameter timeout: The limit. It is not negative.
  /// - Returns: The option.
  public static func timeout(_ timeout: Duration) -> Self { Self { $0.policy.timeout = timeout } }

  /// Sets the time within which the operation must finish after it is added: see ``OperationPolicy/totalTimeout``.
  ///
  /// - Parameter timeout: The limit. It is not negative.
  /// - Returns: The option.
  public static func totalTimeout(_ timeout: Duration) -> Self { Self { $0.policy.totalTimeout = timeout } }

  /// Names resources that only this operation may use while it runs: see ``OperationPolicy/exclusiveResources``.
  ///
  /// - Parameter names: The names of the resources.
  /// - Returns: The option.
  public static func exclusiveResources(_ names: String...) -> Self {
    Self { $0.policy.exclusiveResources.formUnion(names) }
  }

  /// Names resources that the operation shares with operations that also share them: see
  /// ``OperationPolicy/sharedResources``.
  ///
  /// - Parameter names: The names of the resources.
  /// - Returns: The option.
  public static func sharedResources(_ names: String...) -> Self {
    Self { $0.policy.sharedResources.formUnion(names) }
  }

  /// Sets the customer, the server, or another group that the operation belongs to: see ``OperationPolicy/key``.
  ///
  /// - Parameter key: The name of the group; nil for none.
  /// - Returns: The option.
  public static func key(_ key: String?) -> Self { Self { $0.policy.key = key } }
}
