extension OperationProtocol {
  /// When the operation may start, how long it may take, and which resources it uses.
  ///
  /// The default policy limits nothing. A policy that you set replaces all settings of the previous one, including its
  /// retries. To change one setting, set a property: `operation.policy.timeout = .seconds(10)`.
  ///
  /// - Precondition: You set it before you add the operation to a queue.
  @_disfavoredOverload
  public var policy: OperationPolicy {
    get { policyGate?.policy ?? OperationPolicy() }
    set { setPolicy(newValue) }
  }
}

extension Operation {
  /// Sets the policy of an operation that no queue has accepted.
  ///
  /// - Parameters:
  ///   - policy: The policy, which replaces the current one.
  ///   - choice: The code of its retries; nil to keep the current one.
  ///   - work: The entry of the operation in the table of coalescing keys; nil to keep the current one.
  final func setPolicy(_ policy: OperationPolicy, _ choice: RetryChoice? = nil, _ work: CoalescedWork? = nil) {
    let word = state.current
    require(
      word.phase == .pending && !word.isReserved,
      "The policy of \(label) was set after it was added or started: set it before.")
    if let problem = policy.problem { misuse("The policy of \(label) has \(problem).") }
    require(
      policy.retry == nil || self is any RepeatingOperation,
      "The policy of \(label) has a retry policy, but only the function of a TaskOperation can run again: use one.")
    guard hasGate || work != nil || !policy.isEmpty else { return }
    let gate = timedGate
    let attempts = policy.retry.map { TaskAttempts($0, choice ?? gate?.attempts?.choice ?? RetryChoice()) }
    setGate(OperationGate.make(for: self, policy, attempts, work ?? gate?.coalescedWork))
  }

  private func setGate(_ gate: OperationGate) {
    let old = links.withLock { links in
      let details = links.detailsCreatedIfNeeded
      defer { details.pointee.gate = gate }
      return details.pointee.gate
    }
    withExtendedLifetime(old) {}  // Released after the lock.
    gateKind = gate.kind
    // The end of the operation has steps for the gate.
    if gateKind == .other { _ = state.announceLink() }
  }
}

extension OperationPolicy {
  /// The reason why the values are not valid, or nil.
  fileprivate var problem: String? {
    if let delay, delay < .zero { return "the negative delay \(delay)" }
    if let timeout, timeout < .zero { return "the negative timeout \(timeout)" }
    if let totalTimeout, totalTimeout < .zero { return "the negative total timeout \(totalTimeout)" }
    if let problem = retry?.problem { return "invalid retries: \(problem)" }
    if resources?.exclusiveNames.contains("") == true || resources?.sharedNames.contains("") == true {
      return "a resource with an empty name: use a name that identifies the resource"
    }
    guard let both = resources?.namesInBothSets, !both.isEmpty else { return nil }
    return "names that are both exclusive and shared: \(both.joined(separator: ", "))"
  }
}
