import Synchronization

/// A resource that operations of the process use exclusively or share.
///
/// All policies of the process that use the same name refer to the same object, as long as there is one.
/// An operation that needs only this resource acquires and releases it without a lock, as long as no other operation
/// needs it. As soon as there is another one, the resource is *open*: the lock of the ``ResourceTable`` protects it.
/// See `Models/resources.pml`.
final class Resource: @unchecked Sendable {  // The lock protects what is not atomic.
  let name: String
  /// The gate of the operation that has acquired the resource without the lock, ``unused``, or ``open``: the other
  /// properties show which operations use the resource and which wait for it.
  private let mode = Atomic<UInt>(Resource.unused)
  @exclusivity(unchecked) var exclusiveHolder: Unmanaged<ResourceGate>?
  @exclusivity(unchecked) var holders = KeyedList<ObjectIdentifier, Unmanaged<ResourceGate>>()
  @exclusivity(unchecked) var exclusive = WaitingRequests()
  @exclusivity(unchecked) var shared = WaitingRequests()

  private static let unused: UInt = 0
  /// No gate has this address.
  private static let open: UInt = 1

  /// How many lists contain the resource.
  ///
  /// Protected by the lock of ``known``.
  @exclusivity(unchecked) private var listCount = 0

  private init(_ name: String) { self.name = name }

  // MARK: Use

  /// Acquires the resource for exclusive use, without the lock, if no operation uses it or waits for it.
  func acquireAlone(for gate: ResourceGate) -> Bool {
    mode.compareExchange(
      expected: Self.unused, desired: Self.address(of: gate), ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Releases the resource without the lock, if it was acquired without the lock and no other operation has needed it
  /// since.
  func releaseAlone(by gate: ResourceGate) -> Bool {
    mode.compareExchange(expected: Self.address(of: gate), desired: Self.unused, ordering: .releasing).exchanged
  }

  private static func address(of gate: ResourceGate) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(gate).toOpaque())
  }

  /// Makes the resource open.
  ///
  /// Called under the lock, before the other properties are used.
  func open() {
    guard mode.load(ordering: .relaxed) != Self.open else { return }
    let address = mode.exchange(Self.open, ordering: .acquiringAndReleasing)
    exclusiveHolder = UnsafeRawPointer(bitPattern: address).map { .fromOpaque($0) }
  }

  /// Makes the resource unused if no operation uses it or waits for it.
  ///
  /// Called under the lock.
  func closeIfUnused() {
    guard exclusiveHolder == nil, holders.isEmpty, exclusive.first == nil, shared.first == nil else { return }
    mode.store(Self.unused, ordering: .releasing)
  }

  // MARK: Names

  /// The resources that lists contain, by their names.
  static let known = Guarded<[String: Resource]>([:])

  /// Returns the resources with the given names, for a new list.
  ///
  /// O(*n*) in the number of names. ``leaveList(_:)`` must follow when the list is freed.
  static func enterList(_ names: some Sequence<String>) -> [Resource] {
    known.withLock { known in
      names.map { name in
        let resource = known[name] ?? Resource(name)
        resource.listCount += 1
        known[name] = resource
        return resource
      }
    }
  }

  /// Forgets the resources of a list that are in no other one.
  static func leaveList(_ resources: [Resource]) {
    known.withLock { known in
      for resource in resources {
        resource.listCount -= 1
        if resource.listCount == 0 { known[resource.name] = nil }
      }
    }
  }
}

/// Requests that wait for a resource, by their numbers.
struct WaitingRequests {
  /// The requests in order, and nil for each that was removed from the middle.
  private var requests: [(number: UInt64, request: ResourceGate?)] = []
  private var head = 0
  private var removedCount = 0

  var first: ResourceGate? { head < requests.count ? requests[head].request : nil }

  /// Calls `body` with each request whose number is between two given numbers.
  func forEach(after first: UInt64 = 0, before number: UInt64, _ body: (ResourceGate) -> Void) {
    var position = first == 0 ? head : self.position(of: first + 1)
    while position < requests.count, requests[position].number < number {
      if let request = requests[position].request { body(request) }
      position += 1
    }
  }

  /// The last request whose number is lower than `number`.
  func last(before number: UInt64) -> ResourceGate? {
    var position = self.position(of: number)
    while position > head {
      position -= 1
      if let request = requests[position].request { return request }
    }
    return nil
  }

  /// The first request whose number is higher than `number`.
  func first(after number: UInt64) -> ResourceGate? {
    var position = self.position(of: number + 1)
    while position < requests.count {
      if let request = requests[position].request { return request }
      position += 1
    }
    return nil
  }

  /// O(1) for a new request; O(*n*) for a request that was withdrawn and waits again.
  mutating func insert(_ request: ResourceGate) {
    let position = self.position(of: request.requestNumber)
    if position < requests.count, requests[position].number == request.requestNumber {
      requests[position].request = request
      removedCount -= 1
    } else {
      requests.insert((request.requestNumber, request), at: position)
    }
  }

  /// Amortized O(log *n*).
  mutating func remove(_ request: ResourceGate) {
    let position = self.position(of: request.requestNumber)
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

  /// The position of the first entry with this number or a later one.
  private func position(of number: UInt64) -> Int {
    guard let last = requests.last, last.number >= number else { return requests.count }
    var (low, high) = (head, requests.count)
    while low < high {
      let middle = (low + high) / 2
      if requests[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
