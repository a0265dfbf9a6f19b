import Dispatch

/// Finds workers that are blocked, and those that compute again; belongs to the pool manager's thread.
///
/// A worker is judged by the processor time that its thread has used in the time since it was last looked at, and by
/// whether it sleeps at the moment: by its clock, a thread that waits for a processor looks the same. So operations
/// that sleep, wait, read, or do so again and again for short times, make room for others; those that compute do not.
struct WorkerWatch {
  /// The shortest time between two looks, in nanoseconds.
  private static let shortestPause: UInt64 = 500_000
  /// The longest time while work waits, and while it does not.
  private static let longestPause: (working: UInt64, idle: UInt64) = (4_000_000, 50_000_000)
  /// A worker is judged by no less time than this, in nanoseconds; by more where the system does not say whether a
  /// thread sleeps, so that one that is preempted has had its turn.
  private static let window: (usual: UInt64, blind: UInt64) = (1_000_000, 10_000_000)
  /// A worker that used less than this part of the time is blocked; one that used more than half of it computes.
  private static let blockedShare: (usual: UInt64, blind: UInt64) = (4, 20)
  /// For how long work waits and none is taken, in nanoseconds, before one more worker helps out.
  ///
  /// Longer than it takes to find that workers are blocked, whose place others get. Twice as long for each worker that
  /// is at work beyond those that may be: many queues whose operations compute for long are to have few threads, and
  /// yet each gets one in the end.
  private static let patience: UInt64 = 20_000_000
  private static let mostDoublings = 16

  private var pause = shortestPause
  private var lastLook: UInt64 = 0
  private var pools = PerClass(PoolHistory())
  /// The classes that were looked at last time, a bit for each.
  private var watched: UInt8 = 0

  private struct PoolHistory {
    var taken: UInt64 = 0
    /// Since when no work has been taken.
    var standsSince: UInt64 = 0
  }

  /// Whether it is time to look.
  var isDue: Bool { DispatchTime.now().uptimeNanoseconds >= lastLook + pause }

  var nextLook: DispatchTime { DispatchTime(uptimeNanoseconds: lastLook + pause) }

  /// The time between two looks is longer than usual, since nothing changed.
  var isPausing: Bool { pause > Self.shortestPause }

  mutating func hurry() { pause = Self.shortestPause }

  /// Looks at the workers of some classes.
  ///
  /// - Parameter classes: A bit for each class.
  /// - Returns: The classes that are to be looked at again.
  mutating func look(at classes: UInt8) -> UInt8 {
    let now = DispatchTime.now().uptimeNanoseconds
    lastLook = now
    var (remaining, isQuiet, works) = (UInt8(0), true, false)
    for workerClass in WorkerClass.allCases where classes & workerClass.bit != 0 {
      let pool = WorkerPool.pool(of: workerClass)
      // Since when it was not looked at, nothing is known.
      if watched & workerClass.bit == 0 { pools[workerClass].standsSince = now }
      if look(at: pool, now) { isQuiet = false }
      guard let hasWork = pool.continuesWatch() else { continue }
      remaining |= workerClass.bit
      works = works || hasWork
    }
    watched = remaining
    pause = isQuiet ? min(pause * 2, works ? Self.longestPause.working : Self.longestPause.idle) : Self.shortestPause
    return remaining
  }

  /// Looks at the workers of a pool, and has it take what that shows into account.
  ///
  /// - Returns: Whether anything changed.
  private mutating func look(at pool: WorkerPool, _ now: UInt64) -> Bool {
    let (workers, taken, hasWork, excess) = pool.state.withLock { state in
      (
        state.workers.filter { [.working, .foundBlocked].contains($0.status) && $0.probe != nil }.map {
          (worker: $0, wasBlocked: $0.status == .foundBlocked)
        }, state.taken, !state.work.isEmpty, max(0, state.atWork - state.width)
      )
    }
    var sight = PoolSight(now: now)
    for (worker, wasBlocked) in workers {
      switch Self.judge(worker, wasBlocked: wasBlocked, now) {
      case nil: break
      case .blocked: sight.blocked.append((worker, worker.sleepCount))
      case .computing: sight.computing.append((worker, worker.sleepCount))
      case .unclear: sight.isSomeBusy = true
      }
    }
    var history = pools[pool.workerClass]
    if history.taken != taken || !hasWork {
      (history.taken, history.standsSince) = (taken, now)
    }
    if now - history.standsSince >= Self.patience << min(excess, Self.mostDoublings) {
      sight.helpsOut = true
      history.standsSince = now
    }
    pools[pool.workerClass] = history
    return pool.take(sight)
  }

  private enum Judgement {
    case blocked, computing
    /// It has used some of the time; or none, and would like to.
    case unclear
  }

  /// Judges by the time since it was last judged; nil if that is too short.
  private static func judge(_ worker: Worker, wasBlocked: Bool, _ now: UInt64) -> Judgement? {
    guard let probe = worker.probe, let time = probe.processorTime else { return nil }
    // It has slept in the pool since: what it did before does not count.
    guard let seen = worker.seen, seen.sleepCount == worker.sleepCount else {
      worker.seen = (worker.sleepCount, now, time)
      return nil
    }
    let (wall, used) = (now - seen.time, time - seen.processorTime)
    guard wall >= window.usual else { return nil }
    if used * 2 > wall {
      worker.seen = (seen.sleepCount, now, time)
      return .computing
    }
    // It slept when it was found blocked, and has not run since: the kernel, which takes its time, need not be asked.
    // Hundreds may be blocked, and others wait for their place.
    if wasBlocked, used == 0 {
      worker.seen = (seen.sleepCount, now, time)
      return .blocked
    }
    guard let isSleeping = probe.isSleeping else {
      guard wall >= window.blind else { return nil }
      worker.seen = (seen.sleepCount, now, time)
      return used * blockedShare.blind < wall ? .blocked : .unclear
    }
    worker.seen = (seen.sleepCount, now, time)
    return isSleeping && used * blockedShare.usual < wall ? .blocked : .unclear
  }
}

/// What one look at the workers of a pool has shown.
struct PoolSight {
  let now: UInt64
  /// With how often each had slept.
  var blocked: [(worker: Worker, sleepCount: UInt64)] = []
  var computing: [(worker: Worker, sleepCount: UInt64)] = []
  var isSomeBusy = false
  /// No work has been taken for long: one more may be at work.
  var helpsOut = false
}
