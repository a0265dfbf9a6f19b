/// The tasks that wait for a place in a queue that has reached its limit of pending operations.
///
/// This value has no lock: the queue's lock protects it. A task gets a place before it adds its operation, in request
/// order, so no task overtakes another.
struct WaitingAdditions {
  /// How many operations the queue should hold at most.
  var limit = Int.max
  /// Whether the queue is closed, so no task waits for a place.
  var isClosed = false
  private var waiters = WaiterList()
  /// How many tasks have a place and have not yet added their operations.
  private var placeCount = 0

  /// Whether a task waits.
  var areWaiting: Bool { !waiters.isEmpty }

  var waitingCount: Int { waiters.count }

  /// Takes a place, if one is free and no task waits for it.
  mutating func takePlace(besides operationCount: Int) -> Bool {
    guard waiters.isEmpty, hasPlace(besides: operationCount) else { return false }
    placeCount += 1
    return true
  }

  /// Returns a place after its operation was added to the queue.
  mutating func returnPlace() { placeCount -= 1 }

  mutating func append(_ waiter: Waiter) { waiters.append(waiter) }

  /// Removes a task, if it has not been given its place.
  mutating func remove(_ identifier: UInt64) -> Waiter? { waiters.remove(identifier) }

  /// Gives places to the tasks that have waited longest.
  mutating func givePlaces(besides operationCount: Int) -> [Waiter] {
    var woken: [Waiter] = []
    while hasPlace(besides: operationCount), let waiter = waiters.removeFirst() {
      placeCount += 1
      woken.append(waiter)
    }
    return woken
  }

  private func hasPlace(besides operationCount: Int) -> Bool { operationCount + placeCount < limit || isClosed }
}
