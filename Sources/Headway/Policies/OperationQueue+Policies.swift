extension OperationQueueProtocol {
  /// The clock that measures the times of policies.
  ///
  /// The default is `ContinuousClock`, which includes the time while the machine sleeps. Changes to the time of day
  /// don't affect it. In tests, set a `ManualClock` of `HeadwayTestKit`.
  ///
  /// - Precondition: You set it while the queue is empty.
  @_disfavoredOverload
  public var clock: any Clock<Duration> {
    get { state.withLock { $0.policyClock }.clock }
    set { setClock(newValue) }
  }
}

extension OperationQueue {
  fileprivate final func setClock(_ clock: any Clock<Duration>) {
    let new = PolicyClock(clock)
    let (isSet, oldClock, alarms) = update(collectingBatches: true) { state -> (Bool, PolicyClock, [QueueAlarm]) in
      let oldClock = state.policyClock
      guard state.admission.count == 0 else { return (false, oldClock, []) }
      state.policyClock = new
      // The times of the limits are those of the old clock.
      let old = state.setRate(state.rate?.limit, of: self)
      return (true, oldClock, (state.admission.lanes?.removeAll() ?? []) + (old.map { [$0] } ?? []))
    }
    for alarm in alarms { alarm.retire(from: oldClock) }
    require(isSet, "The clock of \(label) was set while it held operations: set it first.")
  }
}
