/// The unfinished operations of a queue that have coalescing keys, and how many callers want the result of each.
///
/// A state machine without locks. Usually, a key has at most one operation. It has more while earlier operations, which
/// are running or were cancelled, have not finished.
///
/// The guarantees hold because each of these is a single step: a call joins an operation or registers a new one; an
/// operation begins; an operation ends; a caller cancels its share. As a result, no call joins an operation after the
/// last caller has cancelled its share. A call can join a waiting operation only before the function begins.
/// `Models/coalesce.pml` proves this.
///
/// A step takes O(*k*) in the number of unfinished operations with the key.
struct CoalescingTable {
  /// The effect of a call.
  enum Entry {
    /// The caller receives the result of an operation that another call has added.
    case joined(CoalescedWork, Operation)
    /// The caller adds its operation.
    ///
    /// - Parameters:
    ///   - replacing: The operations to cancel after the new one has been added.
    ///   - after: The operations that must finish before the new one starts.
    case added(replacing: [Operation], after: [Operation])
    /// The caller adds nothing.
    case dropped
    /// An operation with the key has a value of another type.
    case mismatch(Any.Type)
  }

  private var works: [String: [CoalescedWork]] = [:]

  var count: Int { works.values.reduce(0) { $0 + $1.count } }

  /// Joins an operation with the key.
  ///
  /// - Returns: Nil if the caller must create an operation, and register it.
  mutating func join(_ key: String, _ coalescing: CoalescingPolicy, type: Any.Type) -> Entry? {
    guard let known = works[key] else { return nil }
    if let other = known.first(where: { $0.valueType != type }) { return .mismatch(other.valueType) }
    guard let work = known.last(where: { $0.canBeJoined(coalescing) }), let operation = work.operation else {
      return nil
    }
    work.callerCount += 1
    return .joined(work, operation)
  }

  /// Registers a new operation, or joins an operation that another thread has registered in the meantime.
  mutating func register(_ work: CoalescedWork, _ operation: Operation, _ coalescing: CoalescingPolicy) -> Entry {
    if let entry = join(work.key, coalescing, type: work.valueType) { return entry }
    let known = works[work.key] ?? []
    let wanted = known.filter(\.isWanted)
    if coalescing == .dropNew, !wanted.isEmpty { return .dropped }
    // If a required dependency has failed, the operation has already ended. Then it replaces nothing.
    guard work.phase != .ended else { return .added(replacing: [], after: []) }
    work.operation = operation
    works[work.key, default: []].append(work)
    return switch coalescing {
    case .joinWaiting: .added(replacing: [], after: [])
    case .joinUnfinished, .dropNew: .added(replacing: [], after: known.compactMap(\.operation))
    case .replaceWaiting:
      .added(replacing: wanted.filter { $0.phase == .waiting }.compactMap(\.operation), after: [])
    case .replaceUnfinished: .added(replacing: wanted.compactMap(\.operation), after: [])
    }
  }

  /// Removes an operation that has ended.
  ///
  /// - Returns: A reference to it, to release without a lock.
  mutating func end(_ work: CoalescedWork) -> Operation? {
    work.phase = .ended
    guard let position = works[work.key]?.firstIndex(where: { $0 === work }) else { return nil }
    works[work.key]?.remove(at: position)
    if works[work.key]?.isEmpty == true { works[work.key] = nil }
    return work.operation.take()
  }

  /// Removes all operations.
  ///
  /// Called when the queue is being freed.
  mutating func removeAll() -> [Operation] {
    defer { works = [:] }
    return works.values.joined().compactMap { $0.operation.take() }
  }
}

/// An operation that several calls can share.
final class CoalescedWork: @unchecked Sendable {  // The lock of the keys protects variables.
  enum Phase { case waiting, running, ended }

  let keys: CoalescingKeys
  let key: String
  let valueType: Any.Type
  /// The operation; nil before its entry is in the table and after the operation has ended.
  @exclusivity(unchecked) fileprivate(set) var operation: Operation?
  @exclusivity(unchecked) fileprivate(set) var phase = Phase.waiting
  /// How many callers have not cancelled their shares.
  @exclusivity(unchecked) fileprivate var callerCount = 1

  init(_ key: String, in keys: CoalescingKeys, type: Any.Type) {
    (self.key, self.keys, valueType) = (key, keys, type)
  }

  /// Whether a caller wants the result, and no thread has cancelled the operation.
  fileprivate var isWanted: Bool {
    guard callerCount > 0, let word = operation?.state.current else { return false }
    return !word.isCancelled && !word.hasPendingCancellation
  }

  fileprivate func canBeJoined(_ coalescing: CoalescingPolicy) -> Bool {
    switch coalescing {
    case .joinWaiting: phase == .waiting && isWanted
    case .joinUnfinished: isWanted
    case .replaceWaiting, .replaceUnfinished, .dropNew: false
    }
  }

  /// Notes that the operation starts.
  func begin() { keys.table.withLock { _ in if phase == .waiting { phase = .running } } }

  /// Notes that the operation has ended.
  ///
  /// Called before the threads that wait for the operation wake.
  func end() {
    let operation = keys.table.withLock { $0.end(self) }
    withExtendedLifetime(operation) {}  // Released after the lock.
  }

  /// Notes that a caller cancels its share.
  ///
  /// Called under the lock.
  ///
  /// - Returns: Whether this was the last caller. Then, the operation must be cancelled.
  func leave() -> Bool {
    callerCount -= 1
    return callerCount == 0
  }
}

/// The coalescing keys of a queue, created when the first one is used.
final class CoalescingKeys: Sendable {
  /// Nothing is called or released under the lock.
  let table = Guarded(CoalescingTable())

  /// Removes the operations that a subclass of the queue has never added.
  ///
  /// Called when the queue is being freed.
  func removeAll() {
    let operations = table.withLock { $0.removeAll() }
    if !operations.isEmpty { ReleasedChain.release(operations) }
  }
}
