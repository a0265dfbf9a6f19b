/// The operations and resources that a request waits for.
///
/// A request waits for the operations that use one of its resources, and for earlier requests that exclude it. Only the
/// direct obstacles are read. If an earlier request excludes all others, it waits for all requests before it, so the
/// search ends there. Therefore, raising or reporting everything that many requests wait for takes linear time.
extension ResourceTable {
  /// The operations that a waiting request directly waits for.
  ///
  /// The operations exist as long as the lock is held. The references must be released after the lock.
  func obstacles(of gate: ResourceGate) -> [Operation] {
    guard gate.request == .waiting else { return [] }
    var found: [Operation] = []
    gate.resources?.forEach { found += Self.obstacles(of: gate, at: $0, isShared: $1).operations }
    return found
  }

  /// Returns the operations that a waiting request directly waits for, to raise them.
  ///
  /// - Parameters:
  ///   - gate: The request that waits.
  ///   - level: The level of quality of service.
  /// - Returns: The operations to raise. The references must be released after the lock.
  func obstacles(of gate: ResourceGate, raisingTo level: Int) -> [Operation] {
    gate.raisingLevel = max(gate.raisingLevel, UInt8(level))
    return obstacles(of: gate)
  }

  /// A resource that keeps a request waiting.
  struct Obstacle {
    let name: String
    /// The operations that use the resource, or requested it before.
    let operations: [Operation]
    /// Whether these operations use it.
    let isInUse: Bool
  }

  /// A resource that keeps a request waiting.
  func obstacle(of gate: ResourceGate) -> Obstacle? {
    guard gate.request == .waiting else { return nil }
    var found: Obstacle?
    gate.resources?.forEach { resource, isShared in
      guard found == nil else { return }
      let (operations, isInUse) = Self.obstacles(of: gate, at: resource, isShared: isShared)
      if !operations.isEmpty { found = Obstacle(name: resource.name, operations: operations, isInUse: isInUse) }
    }
    return found
  }

  private static func obstacles(
    of gate: ResourceGate, at resource: Resource, isShared: Bool
  ) -> (operations: [Operation], isInUse: Bool) {
    var operations: [Operation] = []
    let earlier = resource.exclusive.last(before: gate.requestNumber)
    // Everything that the earlier request waits for comes before it.
    if let earlier {
      operations.append(earlier.target)
    } else {
      resource.exclusiveHolder?._withUnsafeGuaranteedRef { operations.append($0.target) }
      if !isShared { resource.holders.forEach { $0._withUnsafeGuaranteedRef { operations.append($0.target) } } }
    }
    let isInUse = earlier == nil && !operations.isEmpty
    if !isShared {
      resource.shared.forEach(after: earlier?.requestNumber ?? 0, before: gate.requestNumber) {
        operations.append($0.target)
      }
    }
    return (operations, isInUse)
  }

  /// The level of quality of service that later requests, which wait for this one, have raised others to.
  ///
  /// Only a request that waits again after it was withdrawn can have later requests.
  func levelBehind(_ gate: ResourceGate) -> Int {
    guard gate.requestNumber != 0 else { return 0 }
    var level: UInt8 = 0
    gate.resources?.forEach { resource, isShared in
      if let next = resource.exclusive.first(after: gate.requestNumber) { level = max(level, next.raisingLevel) }
      if !isShared, let next = resource.shared.first(after: gate.requestNumber) {
        level = max(level, next.raisingLevel)
      }
    }
    return Int(level)
  }
}

extension Operation {
  /// The operations that the caller raises, because they keep this operation's request for resources waiting.
  final func obstaclesAtResources(raisingTo level: Int) -> [Operation] {
    guard let gate = resourceGate else { return [] }
    return ResourceTable.shared.withLock { $0.obstacles(of: gate, raisingTo: level) }
  }
}
