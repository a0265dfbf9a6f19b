extension OperationQueue {
  final func setClock(_ clock: any Clock<Duration>) {
    let new = PolicyClock(clock)
    let (isSet, oldClock, alarms) = update(collectingBatches: true) { state -> (Bool, PolicyClock, [QueueAlarm]) in
      let oldClock = state.policyClock
      guard state.admission.count == 0 else { return (false, oldClock, []) }
      state.policyClock = new
      // The times of the limits are those of the old clock.
      let old = state.setRate(state.admission.policies?.rate?.limit, of: self)
      return (true, oldClock, (state.admission.policies?.lanes?.removeAll() ?? []) + (old.map { [$0] } ?? []))
    }
    for alarm in alarms { alarm.retire(from: oldClock) }
    require(isSet, "The clock of \(label) was set while it held operations: set it first.")
  }
}
