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
    setGate(policy, hasAttempts: policyGate?.hasAttempts == true)
  }

  /// Makes the gate of a new operation notify the calls that share the operation.
  final func setCoalescedWork(_ work: CoalescedWork) {
    if !hasGate { setGate(OperationPolicy(), hasAttempts: false) }
    policyGate?.coalescedWork = work
  }

  /// Sets the gate of an operation that no queue has accepted.
  final func setGate(_ policy: OperationPolicy, hasAttempts: Bool) {
    let gate = OperationGate(policy, of: self, hasAttempts: hasAttempts)
    let old = links.withLock { links in
      // The thread that ends the operation must find the gate.
      _ = state.announceLink()
      let details = links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded
      defer { details.gate = gate }
      gate.coalescedWork = details.gate?.coalescedWork
      return details.gate
    }
    withExtendedLifetime(old) {}  // Released after the lock.
    hasGate = true
  }
}

extension OperationPolicy {
  /// The reason why the values are not valid, or nil.
  fileprivate var problem: String? {
    for (name, duration) in [("delay", delay), ("timeout", timeout), ("total timeout", totalTimeout)] {
      if let duration, duration < .zero { return "the negative \(name) \(duration)" }
    }
    let both = exclusiveResources.intersection(sharedResources).sorted()
    return both.isEmpty ? nil : "names that are both exclusive and shared: \(both.joined(separator: ", "))"
  }
}
