extension OperationProtocol {
  /// When the operation may start, how long it may take, and which resources it uses.
  ///
  /// The default policy limits nothing.
  ///
  /// - Precondition: You set it before you add the operation to a queue.
  @_disfavoredOverload
  public var policy: OperationPolicy {
    get { policyGate?.policy ?? OperationPolicy() }
    set { setPolicy(newValue) }
  }
}

extension Operation {
  fileprivate final func setPolicy(_ policy: OperationPolicy) {
    let word = state.current
    require(
      word.phase == .pending && !word.isReserved,
      "The policy of \(label) was set after it was added or started: set it before.")
    if let problem = policy.problem { misuse("The policy of \(label) has \(problem).") }
    guard hasGate || !policy.isEmpty else { return }
    let gate = timedGate
    setGate(policy, hasAttempts: gate?.hasAttempts == true, coalescedWork: gate?.coalescedWork)
  }

  /// Makes the gate of a new operation notify the table of coalescing keys.
  final func setCoalescedWork(_ work: CoalescedWork) {
    let gate = policyGate
    setGate(gate?.policy ?? OperationPolicy(), hasAttempts: gate?.timed?.hasAttempts == true, coalescedWork: work)
  }

  /// Sets the gate of an operation that no queue has accepted.
  final func setGate(_ policy: OperationPolicy, hasAttempts: Bool, coalescedWork: CoalescedWork? = nil) {
    let gate = OperationGate.make(for: self, policy, hasAttempts: hasAttempts, coalescedWork: coalescedWork)
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
    if resources?.exclusiveNames.contains("") == true || resources?.sharedNames.contains("") == true {
      return "a resource with an empty name: use a name that identifies the resource"
    }
    guard let both = resources?.namesInBothSets, !both.isEmpty else { return nil }
    return "names that are both exclusive and shared: \(both.joined(separator: ", "))"
  }
}
