/// The resources of the process that operations use exclusively or share, and the operations that wait for them.
///
/// A state machine without locks. An operation requests all of its resources when everything else is ready, and gets
/// all of them or none. A request that can't be granted waits. No later request overtakes it on a resource that both
/// need, unless both share it. So requests that conflict are granted in the order in which they began to wait, and
/// operations that need one resource can't starve an operation that needs many.
///
/// Waiting requests hold nothing, so there is no deadlock: the request that has waited longest is granted when the
/// operations that hold its resources have finished.
///
/// A request costs O(1) for each of its resources, and O(log *n*) if it waits, in the number of requests that wait for
/// the resource.
struct ResourceTable {
  /// A resource that operations use or wait for.
  final class Resource {
    let name: String
    /// How many requests refer to it.
    fileprivate var requestCount = 0
    fileprivate var isHeldExclusively = false
    fileprivate var sharingCount = 0
    fileprivate var exclusive = WaitingRequests()
    fileprivate var shared = WaitingRequests()

    fileprivate init(_ name: String) { self.name = name }
  }

  private var resources: [String: Resource] = [:]
  private var lastTicket: UInt64 = 0

  var resourceCount: Int { resources.count }

  // MARK: Requests

  /// Gives the request its resources, or makes it wait.
  ///
  /// - Returns: Whether it has them. If not, ``release(_:)`` or ``withdraw(_:)`` of another request returns it later.
  mutating func acquire(_ request: ResourceRequest) -> Bool {
    assert(request.state != .holding)
    if request.uses.isEmpty { refer(to: request) }
    if request.ticket == 0 {
      lastTicket += 1
      request.ticket = lastTicket
    }
    let isGranted = request.uses.allSatisfy { Self.isFree($0.resource, for: request, isShared: $0.isShared) }
    if isGranted {
      if request.state != .idle { leave(request) }
      request.state = .holding
      for use in request.uses {
        if use.isShared { use.resource.sharingCount += 1 } else { use.resource.isHeldExclusively = true }
      }
    } else if request.state == .idle {
      for use in request.uses {
        if use.isShared { use.resource.shared.insert(request) } else { use.resource.exclusive.insert(request) }
      }
      request.state = .waiting
    } else {
      request.state = .waiting
    }
    return isGranted
  }

  /// Releases the resources of a request that has them.
  ///
  /// - Returns: The waiting requests that can be granted now. Later ones still wait behind them, until the caller has
  ///   called ``acquire(_:)`` or ``withdraw(_:)`` for each.
  mutating func release(_ request: ResourceRequest) -> [ResourceRequest] {
    guard request.state == .holding else { return [] }
    for use in request.uses {
      if use.isShared { use.resource.sharingCount -= 1 } else { use.resource.isHeldExclusively = false }
    }
    request.state = .idle
    request.ticket = 0
    return grantable(after: request)
  }

  /// Makes a request that waits stop waiting; the request keeps its turn in case it waits again.
  ///
  /// - Returns: The waiting requests that can be granted now, as for ``release(_:)``.
  mutating func withdraw(_ request: ResourceRequest) -> [ResourceRequest] {
    guard request.state == .waiting || request.state == .offered else { return [] }
    leave(request)
    request.state = .idle
    return grantable(after: request)
  }

  /// Forgets a request that neither holds anything nor waits.
  mutating func forget(_ request: ResourceRequest) {
    assert(request.state == .idle)
    for use in request.uses {
      use.resource.requestCount -= 1
      if use.resource.requestCount == 0 { resources[use.resource.name] = nil }
    }
    request.uses = []
  }

  /// The name of a resource that keeps a request waiting.
  func obstacle(of request: ResourceRequest) -> String? {
    guard request.state == .waiting else { return nil }
    return request.uses.first { !Self.isFree($0.resource, for: request, isShared: $0.isShared) }?.resource.name
  }

  private mutating func refer(to request: ResourceRequest) {
    func refer(to resource: inout Resource, isShared: Bool) {
      resource.requestCount += 1
      request.uses.append((resource, isShared))
    }
    request.uses.reserveCapacity(request.exclusiveNames.count + request.sharedNames.count)
    for name in request.exclusiveNames { refer(to: &resources[name, default: Resource(name)], isShared: false) }
    for name in request.sharedNames { refer(to: &resources[name, default: Resource(name)], isShared: true) }
  }

  private func leave(_ request: ResourceRequest) {
    for use in request.uses {
      if use.isShared { use.resource.shared.remove(request) } else { use.resource.exclusive.remove(request) }
    }
  }

  // MARK: The order of requests

  /// Whether a resource is available to a request, and no earlier request that waits for it excludes this one.
  private static func isFree(_ resource: Resource, for request: ResourceRequest, isShared: Bool) -> Bool {
    guard !resource.isHeldExclusively, isShared || resource.sharingCount == 0 else { return false }
    if let first = resource.exclusive.first, first.ticket < request.ticket { return false }
    guard !isShared, let first = resource.shared.first else { return true }
    return first.ticket > request.ticket
  }

  /// Returns the requests that a request kept waiting, and that can be granted now.
  private func grantable(after request: ResourceRequest) -> [ResourceRequest] {
    var offered: [ResourceRequest] = []
    func offer(_ request: ResourceRequest) {
      guard request.state == .waiting,
        request.uses.allSatisfy({ Self.isFree($0.resource, for: request, isShared: $0.isShared) })
      else { return }
      request.state = .offered
      offered.append(request)
    }
    for use in request.uses {
      if let first = use.resource.exclusive.first { offer(first) }
      // All that share it, up to the first that excludes them.
      let end = use.resource.exclusive.first?.ticket ?? .max
      use.resource.shared.forEach(before: end, offer)
    }
    return offered
  }
}

/// The request of an operation for its resources.
///
/// Protected by the lock of the table.
final class ResourceRequest: @unchecked Sendable {  // The lock of the table protects what changes.
  enum State {
    /// Holds nothing, and does not wait.
    case idle
    case waiting
    /// Waits, and was returned because it can be granted.
    case offered
    case holding
  }

  let exclusiveNames: [String]
  let sharedNames: [String]
  /// The gate of the operation, which exists as long as the request.
  unowned(unsafe) let gate: OperationGate
  @exclusivity(unchecked) fileprivate(set) var state = State.idle
  /// The turn: requests with lower numbers are first; 0 if the resources have not been requested.
  @exclusivity(unchecked) fileprivate var ticket: UInt64 = 0
  @exclusivity(unchecked) fileprivate var uses: [(resource: ResourceTable.Resource, isShared: Bool)] = []

  init(exclusive: some Sequence<String>, shared: some Sequence<String>, gate: OperationGate) {
    (exclusiveNames, sharedNames, self.gate) = (exclusive.sorted(), shared.sorted(), gate)
  }
}

extension ResourceTable {
  /// Requests that wait for a resource, by their tickets.
  fileprivate struct WaitingRequests {
    /// The requests in order, and nil for each that was removed from the middle.
    private var requests: [(ticket: UInt64, request: ResourceRequest?)] = []
    private var head = 0
    private var removedCount = 0

    var first: ResourceRequest? { head < requests.count ? requests[head].request : nil }

    func forEach(before ticket: UInt64, _ body: (ResourceRequest) -> Void) {
      var position = head
      while position < requests.count, requests[position].ticket < ticket {
        if let request = requests[position].request { body(request) }
        position += 1
      }
    }

    /// O(1) for a new ticket; O(*n*) for one that was withdrawn and returns.
    mutating func insert(_ request: ResourceRequest) {
      let position = self.position(of: request.ticket)
      if position < requests.count, requests[position].ticket == request.ticket {
        requests[position].request = request
        removedCount -= 1
      } else {
        requests.insert((request.ticket, request), at: position)
      }
    }

    /// Amortized O(log *n*).
    mutating func remove(_ request: ResourceRequest) {
      let position = self.position(of: request.ticket)
      guard position < requests.count, requests[position].request === request else { return }
      requests[position].request = nil
      removedCount += 1
      // The first entry is never a removed one.
      while head < requests.count, requests[head].request == nil {
        head += 1
        removedCount -= 1
      }
      guard (head + removedCount) * 2 > requests.count else { return }
      requests = requests[head...].filter { $0.request != nil }
      (head, removedCount) = (0, 0)
    }

    /// The position of the first entry with this ticket or a later one.
    private func position(of ticket: UInt64) -> Int {
      guard let last = requests.last, last.ticket >= ticket else { return requests.count }
      var (low, high) = (head, requests.count)
      while low < high {
        let middle = (low + high) / 2
        if requests[middle].ticket < ticket { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}
