/// Determines which operations get the resources of the process, and in what order.
///
/// A state machine without locks. An operation requests all of its resources when everything else is ready. It gets all
/// of them or none. A request that can't be granted waits. No later request overtakes it on a resource that both need,
/// unless both share it. As a result, conflicting requests are granted in the order of their arrival, and
/// operations that need one resource can't starve an operation that needs many.
///
/// Waiting requests hold nothing, so there is no deadlock: the request that has waited longest is granted when the
/// operations that hold its resources have finished.
///
/// A request costs O(1) for each of its resources, and O(log *n*) if it waits, in the number of requests that wait for
/// the resource.
struct ResourceTable {
  /// The table of the process.
  ///
  /// The lock can be acquired under the lock of a queue. No function is called under it.
  static let shared = Guarded(ResourceTable())

  private var lastNumber: UInt64 = 0

  // MARK: Requests

  /// Gives a request its resources if they are available; otherwise, does nothing.
  ///
  /// - Returns: Whether the request has its resources.
  func acquireIfAvailable(_ gate: ResourceGate) -> Bool {
    open(gate)
    // Otherwise, the caller can't raise the operation.
    if levelBehind(gate) == 0, grant(gate) { return true }
    close(gate)
    return false
  }

  /// Gives a request its resources, or makes it wait.
  ///
  /// - Returns: Whether the request has its resources. If not, ``release(_:)`` or ``withdraw(_:)`` of another request
  ///   returns the request later.
  mutating func acquire(_ gate: ResourceGate) -> Bool {
    open(gate)
    if grant(gate) { return true }
    if gate.requestNumber == 0 {
      lastNumber += 1
      gate.requestNumber = lastNumber
    }
    if gate.request == .idle {
      gate.resources?.forEach { resource, isShared in
        if isShared { resource.shared.insert(gate) } else { resource.exclusive.insert(gate) }
      }
    }
    gate.request = .waiting
    return false
  }

  /// Releases the resources of a request that has them.
  ///
  /// - Returns: The waiting requests that can be granted now. Later ones still wait behind them, until the caller has
  ///   called ``acquire(_:)`` or ``withdraw(_:)`` for each.
  func release(_ gate: ResourceGate) -> [ResourceGate] {
    guard gate.request == .holding else { return [] }
    open(gate)
    defer { close(gate) }
    gate.resources?.forEach { resource, isShared in
      if isShared { _ = resource.holders.remove(ObjectIdentifier(gate)) } else { resource.exclusiveHolder = nil }
    }
    gate.request = .idle
    gate.requestNumber = 0
    gate.raisingLevel = 0
    return grantable(after: gate)
  }

  /// Ends the wait of a request.
  ///
  /// The request keeps its position in the order in case it waits again.
  ///
  /// - Returns: The waiting requests that can be granted now, as for ``release(_:)``.
  func withdraw(_ gate: ResourceGate) -> [ResourceGate] {
    guard gate.request == .waiting || gate.request == .offered else { return [] }
    leave(gate)
    defer { close(gate) }
    gate.request = .idle
    return grantable(after: gate)
  }

  private func grant(_ gate: ResourceGate) -> Bool {
    assert(gate.request != .holding)
    guard isGrantable(gate) else { return false }
    if gate.request != .idle { leave(gate) }
    gate.request = .holding
    let holder = Unmanaged.passUnretained(gate)
    gate.resources?.forEach { resource, isShared in
      if isShared { resource.holders.append(holder, ObjectIdentifier(gate)) } else { resource.exclusiveHolder = holder }
    }
    return true
  }

  private func open(_ gate: ResourceGate) { gate.resources?.forEach { resource, _ in resource.open() } }

  private func close(_ gate: ResourceGate) { gate.resources?.forEach { resource, _ in resource.closeIfUnused() } }

  private func leave(_ gate: ResourceGate) {
    gate.endedWaits += 1
    gate.resources?.forEach { resource, isShared in
      if isShared { resource.shared.remove(gate) } else { resource.exclusive.remove(gate) }
    }
  }

  // MARK: The order of requests

  private func isGrantable(_ gate: ResourceGate) -> Bool {
    gate.resources?.first { !Self.isFree($0, for: gate, isShared: $1) } == nil
  }

  /// Whether a resource is available to a request, and no earlier request that waits for it excludes this one.
  private static func isFree(_ resource: Resource, for gate: ResourceGate, isShared: Bool) -> Bool {
    guard resource.exclusiveHolder == nil, isShared || resource.holders.isEmpty else { return false }
    // A request without a number follows all waiting requests.
    let number = gate.requestNumber == 0 ? .max : gate.requestNumber
    if let first = resource.exclusive.first, first.requestNumber < number { return false }
    guard !isShared, let first = resource.shared.first else { return true }
    return first.requestNumber > number
  }

  /// Returns the requests that a request kept waiting, and that can be granted now.
  private func grantable(after gate: ResourceGate) -> [ResourceGate] {
    var offered: [ResourceGate] = []
    func offer(_ gate: ResourceGate) {
      guard gate.request == .waiting, isGrantable(gate) else { return }
      gate.request = .offered
      offered.append(gate)
    }
    gate.resources?.forEach { resource, _ in
      if let first = resource.exclusive.first { offer(first) }
      // All requests that share it, up to the first exclusive request.
      let end = resource.exclusive.first?.requestNumber ?? .max
      resource.shared.forEach(before: end, offer)
    }
    return offered
  }
}

/// Requests that do not wait, of operations in batches.
///
/// Called by the thread that has taken the operation, with no lock held. It needs the lock of the table only if the
/// request is for several resources, or for a resource that another operation needs.
extension Guarded<ResourceTable> {
  /// Gives a request its resources if they are available; otherwise, does nothing.
  ///
  /// - Returns: Whether the request has them.
  func acquireIfAvailable(_ gate: ResourceGate) -> Bool {
    guard let resource = gate.resources?.only, resource.acquireAlone(for: gate) else {
      return withLock { $0.acquireIfAvailable(gate) }
    }
    gate.request = .holding
    return true
  }

  /// Releases the resources of a request that has them.
  ///
  /// - Returns: The waiting requests that can be granted now, as for ``ResourceTable/release(_:)``.
  func release(_ gate: ResourceGate) -> [ResourceGate] {
    guard let resource = gate.resources?.only, resource.releaseAlone(by: gate) else {
      return withLock { $0.release(gate) }
    }
    gate.request = .idle
    if gate.requestNumber != 0 { gate.requestNumber = 0 }
    return []
  }
}
