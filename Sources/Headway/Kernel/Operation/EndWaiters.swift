/// The goal of a waiter when an operation ends.
///
/// Each goal includes the previous goals.
enum WaitingGoal: Comparable {
  /// The operation has left its queue, and its dependents are counted down.
  ///
  /// A thread can't wait for more than this while it notifies the observers, or runs other user code that is called
  /// because the operation ended.
  case settled
  /// The observers have been notified.
  case notified
  /// Handlers that report the end have been called.
  ///
  /// Only tasks wait for this. A thread does not, because the handlers may need that thread.
  case reported
}

/// The threads and tasks that wait for the end of an operation.
///
/// The lock of the links protects the list. Adding a waiter, and removing a task, take constant time.
struct EndWaiters {
  // An object, so that an operation without waiters stores only a reference. It is never copied.
  private final class Waiters {
    @exclusivity(unchecked) var list = KeyedList<UInt64, (waiter: Waiter, goal: WaitingGoal)>()
  }

  private var waiters: Waiters?

  var count: Int { waiters?.list.count ?? 0 }

  mutating func append(_ waiter: Waiter, for goal: WaitingGoal) {
    let waiters = self.waiters ?? Waiters()
    self.waiters = waiters
    waiters.list.append((waiter, goal), waiter.identifier)
  }

  /// Removes and returns the waiters whose goal is reached, in O(*n*).
  mutating func take(reaching goal: WaitingGoal) -> [Waiter] {
    guard let all = waiters?.list.removeAll() else { return [] }
    for (waiter, later) in all where later > goal { append(waiter, for: later) }
    return all.filter { $0.goal <= goal }.map { $0.waiter }
  }

  /// Removes a task that has not been woken.
  mutating func remove(_ identifier: UInt64) -> Waiter? { waiters?.list.remove(identifier)?.waiter }
}
