extension OperationQueueProtocol {
  /// How the queue serves the operations of each key that has no policy of its own.
  ///
  /// The default policy has the weight 1 and no limits. You can change it at any time. Setting the policies of the main
  /// queue has no effect.
  ///
  /// ```swift
  /// queue.defaultKeyPolicy = KeyPolicy(maxConcurrentOperationCount: 2, rateLimit: RateLimit(10, per: .seconds(1)))
  /// ```
  ///
  /// - Precondition: The weight and the limit of running operations are 1 or more.
  /// - Complexity: O(*n*) to set it, in the number of keys of the operations in the queue.
  @_disfavoredOverload
  public var defaultKeyPolicy: KeyPolicy {
    get { state.withLock { $0.admission.lanes?.defaultPolicy } ?? KeyPolicy() }
    set { setKeyPolicy(newValue, of: nil) }
  }

  /// Returns how the queue serves the operations of a key.
  ///
  /// - Parameter key: The key, as in ``OperationPolicy/key``.
  /// - Returns: The policy of the key, or ``defaultKeyPolicy`` if it has none of its own.
  @_disfavoredOverload
  public func keyPolicy(forKey key: String) -> KeyPolicy {
    state.withLock { $0.admission.lanes?.policy(of: key) } ?? KeyPolicy()
  }

  /// Sets how the queue serves the operations of a key.
  ///
  /// You can call it at any time. A limit that has changed begins as if no operation of the key had started before. An
  /// operation that runs continues, even if the new policy would not let it start. Setting the policies of the main
  /// queue has no effect.
  ///
  /// ```swift
  /// queue.setKeyPolicy(KeyPolicy(weight: 3), forKey: "premium")
  /// ```
  ///
  /// - Parameters:
  ///   - policy: The policy, or nil for ``defaultKeyPolicy``.
  ///   - key: The key, as in ``OperationPolicy/key``.
  /// - Precondition: The weight and the limit of running operations are 1 or more.
  /// - Complexity: O(1), and O(log *n*) if operations of the key become startable.
  @_disfavoredOverload
  public func setKeyPolicy(_ policy: KeyPolicy?, forKey key: String) { setKeyPolicy(policy, of: key) }

  /// Returns whether the circuit breaker of a key lets operations start.
  ///
  /// - Parameter key: The key, as in ``OperationPolicy/key``.
  /// - Returns: The state of the breaker; ``CircuitBreaker/State/closed`` if the key has none.
  @_disfavoredOverload
  public func circuitBreakerState(forKey key: String) -> CircuitBreaker.State {
    let now = startTime?.now ?? .min
    return state.withLock { $0.admission.lanes?[key]?.limits.breakerState(at: now) } ?? .closed
  }
}

extension OperationQueue {
  /// Sets the policy of a key, or that of all keys without a policy of their own.
  fileprivate final func setKeyPolicy(_ policy: KeyPolicy?, of key: String?) {
    guard !isMain else { return }
    if let problem = policy?.problem {
      misuse("The policy \(key.map { "of the key ‘\($0)’" } ?? "of all keys") of \(label) has \(problem).")
    }
    let (alarms, clock) = update(collectingBatches: true) { state in
      let (changed, alarms) = state.admission.lanesCreatedIfNeeded.setPolicy(policy, forKey: key)
      state.noteNeedOfTime(of: self)
      for lane in changed { state.admission.represent(lane) }
      return (alarms, state.policyClock)
    }
    for alarm in alarms { alarm.retire(from: clock) }
  }
}
