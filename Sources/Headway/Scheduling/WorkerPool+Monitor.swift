import Dispatch
import Synchronization

extension WorkerPool {
  /// How long the monitor gives the workers to take the next piece of work.
  private static let patience = DispatchTimeInterval.milliseconds(1)

  /// What the monitor's thread does until it ends: while work waits and nobody takes any, it lets twice as many work;
  /// while some is taken, half as many at each look, down to the number of processors.
  func runMonitor(_ monitor: Worker) {
    while true {
      watchWaitingWork()
      if monitor.wake.wait(timeout: .now() + Self.idleTime) == .success { continue }
      let isLeaving = state.withLock { state in
        guard !state.isMonitored else { return false }
        state.monitor = nil
        return true
      }
      if isLeaving { return }
      monitor.wake.wait()  // The signal is on its way.
    }
  }

  private func watchWaitingWork() {
    let look = DispatchSemaphore(value: 0)  // Never signalled: a sleep with a good clock.
    var taken: UInt64?
    var workWaits = true
    while workWaits {
      _ = look.wait(timeout: .now() + Self.patience)
      changeAndSend { state in
        workWaits = !state.work.isEmpty
        guard workWaits else {
          state.width = Self.processorCount
          state.isMonitored = false
          return
        }
        if state.taken == taken {
          state.width = min(Self.maximumWorkerCount, max(state.atWork, Self.processorCount) * 2)
        } else {
          state.width = max(Self.processorCount, state.width / 2)
        }
        taken = state.taken
      }
    }
  }
}
