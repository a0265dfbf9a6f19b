/// The tasks that wait for a place in a queue that holds as many operations as it should.
///
/// A value without protection of its own: the queue's lock protects it. A place is given to a task before it adds its
/// operation, in the order in which they have asked, so none overtakes another.
struct WaitingAdditions {
  /// How many operations the queue should hold at most.
  var limit = Int.max
  private var waiters = WaiterList()
  /// How many have a place, and have not said that they have added.
  private var placeCount = 0

  /// Whether somebody waits.
  var areWaiting: Bool { !waiters.isEmpty }

  var waitingCount: Int { waiters.count }

  /// Takes a place, if there is one and nobody waits for it.
  mutating func takePlace(besides operationCount: Int) -> Bool {
    guard waiters.isEmpty, hasPlace(besides: operationCount) else { return false }
    placeCount += 1
    return true
  }

  /// The operation for which a place was taken is in the queue now.
  mutating func returnPlace() { placeCount -= 1 }

  mutating func append(_ waiter: Waiter) { waiters.append(waiter) }

  /// Takes out a task, if it has not got its place.
  mutating func remove(_ identifier: UInt64) -> Waiter? { waiters.remove(identifier) }

  /// Gives places to those that have waited longest.
  mutating func givePlaces(besides operationCount: Int) -> [Waiter] {
    var woken: [Waiter] = []
    while hasPlace(besides: operationCount), let waiter = waiters.removeFirst() {
      placeCount += 1
      woken.append(waiter)
    }
    return woken
  }

  private func hasPlace(besides operationCount: Int) -> Bool { operationCount + placeCount < limit }
}
