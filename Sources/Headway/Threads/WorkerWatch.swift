import Dispatch
import Synchronization

/// Finds workers that are blocked and workers that compute again.
///
/// It belongs to the pool manager's thread.
///
/// A worker is judged by the processor time that its thread has used since the last check, and by whether it is
/// sleeping at the moment. Processor time alone is not sufficient, because a thread that waits for a processor uses
/// none, either. As a result, operations that sleep, wait, or read, even if only for short periods, make room for
/// others. Operations that compute do not.
struct WorkerWatch {
  /// The shortest time between two checks, in nanoseconds.
  private static let shortestPause: UInt64 = 500_000
  /// The longest time between two checks, while work waits and while none does.
  private static let longestPause: (working: UInt64, idle: UInt64) = (4_000_000, 50_000_000)
  /// The minimum time that a worker is judged by, in nanoseconds.
  ///
  /// It is longer if the system does not report whether a thread sleeps, so that a preempted thread has had its turn.
  private static let window: (usual: UInt64, blind: UInt64) = (1_000_000, 10_000_000)
  /// A worker that used less than this part of the time is blocked.
  ///
  /// A worker that used more than half of it computes.
  private static let blockedShare: (usual: UInt64, blind: UInt64) = (4, 20)
  /// How long work must wait while none is taken, in nanoseconds, before one more worker helps out.
  ///
  /// This is longer than the time to find blocked workers and let other workers take their places. It is doubled for
  /// each worker at work beyond the maximum: many queues whose operations compute for a long time should get few
  /// threads, and yet each must eventually get one.
  private static let patience: UInt64 = 20_000_000
  private static let mostDoublings = 16

  private var pause = shortestPause
  private var lastLook: UInt64 = 0
  private var pools = PerClass(PoolHistory())
  /// The classes that were checked last time: one bit per class.
  private var watched: UInt8 = 0

  private struct PoolHistory {
    var taken: UInt64 = 0
    /// The time since which no work has been taken.
    var standsSince: UInt64 = 0
  }

  /// Whether it is time for the next check.
  var isDue: Bool { DispatchTime.now().uptimeNanoseconds >= lastLook + pause }

  var nextLook: DispatchTime { DispatchTime(uptimeNanoseconds: lastLook + pause) }

  /// Whether the time between two checks is longer than usual, because nothing changed.
  var isPausing: Bool { pause > Self.shortestPause }

  mutating func hurry() { pause = Self.shortestPause }

  /// Checks the workers of some classes.
  ///
  /// - Parameter classes: One bit per class.
  /// - Returns: The classes that must be checked again.
  mutating func look(at classes: UInt8) -> UInt8 {
    let now = DispatchTime.now().uptimeNanoseconds
    lastLook = now
    var (remaining, isQuiet, works) = (UInt8(0), true, false)
    for workerClass in WorkerClass.allCases where classes & workerClass.bit != 0 {
      let pool = WorkerPool.pool(of: workerClass)
      // Nothing is known about the time during which the class was not checked.
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

  /// Checks the workers of a pool and applies the result to the pool.
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
    var sample = PoolSample(now: now)
    for (worker, wasBlocked) in workers {
      switch Self.judge(worker, wasBlocked: wasBlocked, now) {
      case nil: break
      case .blocked: sample.blocked.append((worker, worker.sleepCount))
      case .computing: sample.computing.append((worker, worker.sleepCount))
      case .unclear: sample.isSomeBusy = true
      }
    }
    var history = pools[pool.workerClass]
    if history.taken != taken || !hasWork {
      (history.taken, history.standsSince) = (taken, now)
    }
    if now - history.standsSince >= Self.patience << min(excess, Self.mostDoublings) {
      sample.helpsOut = true
      history.standsSince = now
    }
    pools[pool.workerClass] = history
    return pool.take(sample)
  }

  private enum Judgement {
    case blocked, computing
    /// It has used some of the time.
    ///
    /// Or it has used none but is not asleep.
    case unclear
  }

  /// Judges a worker by the time since it was last judged; nil if that is too short.
  private static func judge(_ worker: Worker, wasBlocked: Bool, _ now: UInt64) -> Judgement? {
    guard let probe = worker.probe, let time = probe.processorTime else { return nil }
    // It has slept in the pool since then, so its previous activity does not count. Or its clock has jumped.
    guard let seen = worker.seen, seen.sleepCount == worker.sleepCount, seen.processorTime <= time else {
      worker.seen = (worker.sleepCount, now, time)
      return nil
    }
    let (wall, used) = (now - seen.time, time - seen.processorTime)
    guard wall >= window.usual else { return nil }
    if used * 2 > wall {
      worker.seen = (seen.sleepCount, now, time)
      return .computing
    }
    guard !worker.waitsForLock.load(ordering: .relaxed) else {
      worker.seen = (seen.sleepCount, now, time)
      return .unclear
    }
    // It slept when it was found blocked. It has not run since. Therefore, the kernel, which would take its time, does
    // not need to be queried. Hundreds of workers can be blocked while others wait for their places.
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

/// The result of one check of a pool's workers.
struct PoolSample {
  let now: UInt64
  /// Each worker with the number of times that it had slept.
  var blocked: [(worker: Worker, sleepCount: UInt64)] = []
  var computing: [(worker: Worker, sleepCount: UInt64)] = []
  var isSomeBusy = false
  /// No work has been taken for a long time, so one more worker can be at work.
  var helpsOut = false
}
