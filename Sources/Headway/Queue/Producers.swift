/// The tasks that wait for a place in a queue that holds as many operations as it should.
///
/// A value without protection of its own: the queue's lock protects it. A place is given to a task before it adds its
/// operation, in the order in which they have asked, so none overtakes another.
struct Producers {
  /// How many operations the queue should hold at most.
  var limit = Int.max
  /// Nil in place of one that waits no more.
  private var waiters = FirstInFirstOut<Waiter?>()
  /// How many of them wait.
  private(set) var waitingCount = 0
  /// How many have a place, and have not said that they have added.
  private var placeCount = 0

  /// Whether somebody waits.
  var areWaiting: Bool { waitingCount > 0 }

  /// Takes a place, if there is one and nobody waits for it.
  mutating func takePlace(besides operationCount: Int) -> Bool {
    guard waitingCount == 0, hasPlace(besides: operationCount) else { return false }
    placeCount += 1
    return true
  }

  /// The operation for which a place was taken is in the queue now.
  mutating func returnPlace() { placeCount -= 1 }

  mutating func append(_ waiter: Waiter) {
    waiters.append(waiter)
    waitingCount += 1
  }

  /// Takes out a task, if it has not got its place.
  ///
  /// O(*n*) in the number of those that wait.
  mutating func remove(_ identifier: UInt64) -> Waiter? {
    for position in 0..<waiters.count {
      guard let waiter = waiters[position], case .task(identifier, _) = waiter else { continue }
      waiters[position] = nil
      waitingCount -= 1
      return waiter
    }
    return nil
  }

  /// Gives places to those that have waited longest.
  mutating func givePlaces(besides operationCount: Int) -> [Waiter] {
    var woken: [Waiter] = []
    while waitingCount > 0, hasPlace(besides: operationCount) {
      guard let waiter = waiters.popFirst() ?? nil else { continue }
      waitingCount -= 1
      placeCount += 1
      woken.append(waiter)
    }
    return woken
  }

  private func hasPlace(besides operationCount: Int) -> Bool { operationCount + placeCount < limit }
}
