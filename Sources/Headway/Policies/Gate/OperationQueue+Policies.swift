extension OperationQueue {
  final func setClock(_ clock: any Clock<Duration>) {
    let new = PolicyClock(clock)
    let (isSet, oldClock, alarms) = update(collectingBatches: true) { state -> (Bool, PolicyClock, [QueueAlarm]) in
      let oldClock = state.policyClock
      guard state.admission.count == 0 else { return (false, oldClock, []) }
      state.policyClock = new
      // The times of the limits are from the old clock.
      let old = state.setRate(state.admission.policies?.rate?.limit, of: self)
      return (true, oldClock, (state.admission.policies?.lanes?.removeAll() ?? []) + (old.map { [$0] } ?? []))
    }
    for alarm in alarms { alarm.retire(from: oldClock) }
    require(isSet, "The clock of \(label) was set while it held operations: set it first.")
  }
}

extension OperationQueueDynamicMembers {
  /// The clock that measures the times of policies.
  ///
  /// The default is `ContinuousClock`, which includes the time while the machine sleeps. Changes to the time of day
  /// don't affect it. In tests, set a `ManualClock` of `HeadwayTestKit`.
  ///
  /// If your own clock goes back, for example because it follows the time of day, policies continue as if no time had
  /// passed. The change is noticed within a quarter of a second. If the clock jumps ahead, they continue as if that
  /// time had passed.
  ///
  /// - Precondition: The queue is empty when you set the clock.
  public var clock: any Clock<Duration> {
    get { queue.state.withLock { $0.policyClock }.clock }
    nonmutating set { queue.setClock(newValue) }
  }
}
