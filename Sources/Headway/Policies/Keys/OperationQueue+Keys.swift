extension OperationQueueProtocol {
  /// The policy of all keys without their own policy.
  ///
  /// By default, each key has the weight 1 and no limits. You can change the policy at any time. Setting the policies
  /// of the main queue has no effect.
  ///
  /// ```swift
  /// queue.defaultKeyPolicy = KeyPolicy(maxConcurrentOperationCount: 2, rateLimit: RateLimit(10, per: .seconds(1)))
  /// ```
  ///
  /// - Precondition: The weight and the limit of running operations are 1 or more.
  /// - Complexity: Setting it takes O(*n*) in the number of keys that the queue stores.
  @_disfavoredOverload
  public var defaultKeyPolicy: KeyPolicy {
    get { state.withLock { $0.admission.policies?.lanes?.defaultPolicy } ?? KeyPolicy() }
    set { setKeyPolicy(newValue, of: nil) }
  }

  /// Returns the policy of a key.
  ///
  /// - Parameter key: The key, as in ``OperationPolicy/key``.
  /// - Returns: The policy that you have set for the key, or ``defaultKeyPolicy``.
  @_disfavoredOverload
  public func keyPolicy(forKey key: String) -> KeyPolicy {
    state.withLock { $0.admission.policies?.lanes?.policy(of: key) } ?? KeyPolicy()
  }

  /// Sets the policy of a key.
  ///
  /// You can change the policy at any time. A changed rate limit or circuit breaker begins as if no operation of the
  /// key had started before. A running operation continues, even if the new policy would not let it start. Setting the
  /// policies of the main queue has no effect.
  ///
  /// ```swift
  /// queue.setKeyPolicy(KeyPolicy(weight: 3), forKey: "premium")
  /// ```
  ///
  /// - Parameters:
  ///   - policy: The policy, or nil to use ``defaultKeyPolicy``.
  ///   - key: The key, as in ``OperationPolicy/key``.
  /// - Precondition: The weight and the limit of running operations are 1 or more.
  /// - Complexity: O(1), or O(log *n*) if the change allows operations of the key to start.
  @_disfavoredOverload
  public func setKeyPolicy(_ policy: KeyPolicy?, forKey key: String) { setKeyPolicy(policy, of: key) }

  /// Returns the state of the circuit breaker of a key.
  ///
  /// - Parameter key: The key, as in ``OperationPolicy/key``.
  /// - Returns: The state; ``CircuitBreaker/State/closed`` if the key has no circuit breaker.
  @_disfavoredOverload
  public func circuitBreakerState(forKey key: String) -> CircuitBreaker.State {
    let now = startTime?.now ?? .min
    return state.withLock { $0.admission.policies?.lanes?[key]?.limits.breakerState(at: now) } ?? .closed
  }
}

extension OperationQueue {
  /// Sets the policy of a key, or the default policy if the key is nil.
  fileprivate final func setKeyPolicy(_ policy: KeyPolicy?, of key: String?) {
    guard !isMain else { return }
    if let problem = policy?.problem {
      misuse("The policy \(key.map { "of the key “\($0)”" } ?? "of all keys") of \(label) has \(problem).")
    }
    let (alarms, clock) = update(collectingBatches: true) { state in
      // The limits count only the operations in batches that threads have begun.
      state.admission.reclaimBatches()
      let policies = state.policiesCreatedIfNeeded
      let (changed, alarms) = policies.lanesCreatedIfNeeded.setPolicy(policy, forKey: key)
      state.noteNeedOfTime(of: self)
      for lane in changed { policies.represent(lane, in: &state.admission) }
      return (alarms, state.policyClock)
    }
    for alarm in alarms { alarm.retire(from: clock) }
  }
}
