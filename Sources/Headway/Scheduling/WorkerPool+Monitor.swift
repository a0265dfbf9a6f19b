import Dispatch
import Synchronization

extension WorkerPool {
  /// How often the monitor looks; at the second look it can tell that a worker is blocked.
  private static let pause = DispatchTimeInterval.microseconds(500)
  /// For how many looks work waits before one more worker helps out.
  private static let patience = 40
  /// How many more workers than there are processors are let in at a time, at most, in place of blocked ones.
  private static let greatestBurst = 8 * ProcessorCount.usable

  /// What the monitor's thread does until it ends: while work waits for which no worker may be sent, it looks for
  /// workers that are blocked.
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
    var looksWithoutProgress = 0
    repeat {
      _ = look.wait(timeout: .now() + Self.pause)
      let (working, nowTaken) = state.withLock { state in
        (state.workers.filter { $0.status == .working && $0.probe != nil }, state.taken)
      }
      looksWithoutProgress = nowTaken == taken ? looksWithoutProgress + 1 : 0
      taken = nowTaken
      var blocked: [(worker: Worker, serial: UInt64)] = []
      var isSomeBusy = false
      for worker in working {
        switch Self.look(at: worker) {
        case .blocked(let serial): blocked.append((worker, serial))
        case .busy: isSomeBusy = true
        case .new: break
        }
      }
      if !blocked.isEmpty { looksWithoutProgress = 0 }
      let helpsOut = looksWithoutProgress >= Self.patience
      if helpsOut { looksWithoutProgress = 0 }
      changeAndSend { state in
        for (worker, serial) in blocked {
          // It may have gone on while it was looked at.
          guard worker.status == .working, worker.serial.load(ordering: .relaxed) == serial else { continue }
          worker.wasFoundBlocked(&state)
        }
        if isSomeBusy {
          state.burst = 0
        } else if !blocked.isEmpty {
          state.burst = min(max(1, state.burst * 2), Self.greatestBurst)
        }
        if helpsOut, state.hasUnvisitedWork { state.helpsOut = true }
      }
    } while !stopIfNothingWaits()
  }

  /// Whether the monitor is done: work that comes later sets it to look again.
  private func stopIfNothingWaits() -> Bool {
    state.withLock { state in
      guard state.work.isEmpty else { return false }
      state.burst = 0
      state.helpsOut = false
      state.isMonitored = false
      return true
    }
  }

  private enum Sight {
    /// It has begun with the operation since it was last looked at.
    case new
    case busy
    /// With the serial number at which it was.
    case blocked(UInt64)
  }

  /// A worker is blocked if since the last look it has been in the same operation, has used no processor time, and
  /// sleeps.
  private static func look(at worker: Worker) -> Sight {
    let serial = worker.serial.load(ordering: .relaxed)
    guard let probe = worker.probe, let time = probe.processorTime else { return .new }
    defer { worker.seen = (serial, time) }
    guard let seen = worker.seen, seen.serial == serial else { return .new }
    return seen.processorTime == time && probe.isSleeping ? .blocked(serial) : .busy
  }
}

extension WorkerPool.State {
  /// Whether work waits for which no worker is at work.
  fileprivate var hasUnvisitedWork: Bool {
    let visited = Set(workers.lazy.compactMap(\.visit))
    return work.works.contains { !visited.contains(ObjectIdentifier($0)) }
  }
}
