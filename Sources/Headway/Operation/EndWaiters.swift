/// What a waiter waits for at the end of an operation; each includes those before it.
enum WaitingGoal: Comparable {
  /// The queue is left, and dependents are released: all that a thread can wait for while it notifies the observers, or
  /// runs other user code that the end of the operation leads to.
  case settled
  /// The observers have been notified.
  case notified
  /// Handlers that report the end have been called: all that a task can wait for.
  ///
  /// A thread does not wait for them, since they may need that thread.
  case reported
}

/// The threads and tasks that wait for the end of an operation.
///
/// The lock of the links protects it. To add a waiter, or to take a task out, takes constant time.
struct EndWaiters {
  // An object, so that an operation without waiters has no more than a reference; it is never copied.
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
