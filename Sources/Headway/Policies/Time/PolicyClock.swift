import Synchronization

/// A clock of policies, and the alarms that are set on it.
///
/// All queues without their own clock share ``continuous``. It uses the time of `ContinuousClock`, which includes the
/// time while the machine sleeps. Changes to the time of day don't affect it. As a result, a delay of an hour passes in
/// an hour, even if the machine slept in between.
final class PolicyClock: Sendable {
  /// The clock of all queues that have none of their own.
  static let continuous = PolicyClock()

  private struct State {
    var heap = AlarmHeap()
    /// The time when the driver wakes.
    var wakeTime = ClockTime.max
    /// Whether the driver is awake.
    ///
    /// If it is, it reads the time of the first alarm before it sleeps.
    var isAwake = false

    /// Makes the time of the first alarm the time to wake, if that is earlier; returns whether it is.
    mutating func noteFirstTime() -> Bool {
      guard !isAwake, let first = heap.firstTime, first < wakeTime else { return false }
      wakeTime = first
      return true
    }
  }

  // Protected by its lock. Under the lock, the only functions of alarms that are called are those whose comments allow
  // it.
  private let state = Guarded(State())
  private let driver: any AlarmDriver
  /// The clock that user code has set, or `ContinuousClock`.
  let clock: any Clock<Duration>

  private init() {
    clock = ContinuousClock()
    #if os(Linux)
    driver = AlarmThread() ?? SleepingTasks(on: ContinuousClock())
    #else
    driver = SleepingTasks(on: ContinuousClock())
    #endif
  }

  /// Creates the clock for a queue that has its own clock.
  convenience init(_ clock: any Clock<Duration>) { self.init(clock, driver: Self.driver(on: clock)) }

  /// Creates a clock with a driver that rings its alarms.
  init(_ clock: any Clock<Duration>, driver: any AlarmDriver) { (self.clock, self.driver) = (clock, driver) }

  private static func driver(on clock: some Clock<Duration>) -> any AlarmDriver { SleepingTasks(on: clock) }

  /// The time of the clock.
  ///
  /// Can run user code: called with no lock held.
  var now: ClockTime { driver.now }

  /// How many alarms are set.
  var alarmCount: Int { state.withLock { $0.heap.count } }

  /// Sets an alarm to its next time.
  ///
  /// Called after that time has changed, with no lock held.
  func set(_ alarm: Alarm) {
    let isEarlier = state.withLock { state in
      state.heap.set(alarm, to: alarm.nextTime)
      return state.noteFirstTime()
    }
    if isEarlier { wakeDriver() }
  }

  /// Removes an alarm, which does not begin to ring from then on.
  func remove(_ alarm: Alarm) {
    let isEmpty = state.withLock { state in
      state.heap.remove(alarm)
      guard state.heap.firstTime == nil, !state.isAwake, state.wakeTime < .max else { return false }
      state.wakeTime = .max
      return true
    }
    guard isEmpty else { return }
    driver.sleep()
    // Another thread may have set an alarm and its driver just before.
    wakeDriver()
  }

  /// Makes the driver wake at the time in the state.
  ///
  /// Called after every change of that time, except by the driver itself. If other threads change it at the same time,
  /// a thread that has seen the last change makes the last call of the driver.
  private func wakeDriver() {
    while true {
      let time = state.withLock { $0.isAwake ? .max : $0.wakeTime }
      guard time < .max else { return }
      driver.wake(at: time) { self.ring() }
      if state.withLock({ $0.isAwake || $0.wakeTime == time }) { return }
    }
  }

  /// Rings all alarms that are due.
  private func ring() {
    state.withLock { $0.isAwake = true }
    while true {
      let now = now
      let (alarm, isSet) = state.withLock { state -> (Alarm?, Bool) in
        while let alarm = state.heap.popFirst(dueAt: now) {
          if alarm.retainTarget() { return (alarm, false) }
        }
        (state.isAwake, state.wakeTime) = (false, .max)
        return (nil, state.noteFirstTime())
      }
      guard let alarm else {
        if isSet { wakeDriver() }
        return
      }
      alarm.ring(at: now)
    }
  }
}

/// Calls a function at a certain time of a clock.
protocol AlarmDriver: Sendable {
  /// The time of the clock.
  var now: ClockTime { get }

  /// Calls a function at a time, instead of at the time that was set before.
  func wake(at time: ClockTime, _ wake: @escaping @Sendable () -> Void)

  /// Calls nothing until another time is set.
  ///
  /// A call that is about to begin can still begin.
  func sleep()
}

#if os(Linux)
extension AlarmThread: AlarmDriver {
  var now: ClockTime { Self.now }
  func sleep() {}
}
#endif

/// Tasks that sleep on a clock, one at a time.
///
/// The times equal the clock's until the clock goes back, for example because it follows the time of day. The times
/// then continue from the last time that was read, as if no time had passed: see ``ClockReading``. While a task sleeps,
/// the clock is read periodically, because nothing else would detect that the task sleeps too long.
private final class SleepingTasks<UserClock: Clock>: AlarmDriver where UserClock.Duration == Duration {
  private struct Sleeper {
    let identifier: UInt64
    let time: ClockTime
    let wake: @Sendable () -> Void
    let tasks: [Task<Void, Never>]
  }

  private let clock: UserClock
  private let reading: Guarded<ClockReading<UserClock.Instant>>
  /// The task that sleeps, until it wakes.
  private let sleeper = Guarded<Sleeper?>(nil)
  private let lastIdentifier = Atomic<UInt64>(0)

  /// How often the clock is read while a task sleeps.
  private static var interval: Duration { .milliseconds(250) }

  init(on clock: UserClock) {
    self.clock = clock
    reading = Guarded(ClockReading(clock.now))
  }

  var now: ClockTime {
    while true {
      let version = reading.withLock { $0.version }
      // User code: with no lock held.
      let instant = clock.now
      guard let (time, wentBack) = reading.withLock({ $0.note(instant, since: version) }) else { continue }
      if wentBack { sleepAgain() }
      return time
    }
  }

  func wake(at time: ClockTime, _ wake: @escaping @Sendable () -> Void) {
    replaceSleeper(by: makeSleeper(until: time, wake))
  }

  func sleep() { replaceSleeper(by: nil) }

  private func makeSleeper(until time: ClockTime, _ wake: @escaping @Sendable () -> Void) -> Sleeper {
    let identifier = lastIdentifier.add(1, ordering: .relaxed).newValue
    let (clock, deadline) = (clock, reading.withLock { $0.instant(of: time) })
    let watching =
      clock is ContinuousClock
      ? nil
      : Task.detached { [weak self] in
        while (try? await Task.sleep(for: Self.interval)) != nil, let self { _ = self.now }
      }
    let sleeping = Task.detached(priority: .high) { [weak self] in
      defer { watching?.cancel() }
      // The sleeper that follows a cancelled sleeper wakes the remaining ones.
      guard (try? await clock.sleep(until: deadline, tolerance: .zero)) != nil else { return }
      _ = self?.exchangeSleeper(identifier, with: nil)
      wake()
    }
    return Sleeper(identifier: identifier, time: time, wake: wake, tasks: [sleeping] + (watching.map { [$0] } ?? []))
  }

  /// Sleeps again until the same time, because the clock has gone back.
  private func sleepAgain() {
    guard let old = sleeper.withLock({ $0 }) else { return }
    let new = makeSleeper(until: old.time, old.wake)
    for task in exchangeSleeper(old.identifier, with: new) ? old.tasks : new.tasks { task.cancel() }
  }

  /// Replaces a sleeper, unless another thread has done so.
  private func exchangeSleeper(_ identifier: UInt64, with new: Sleeper?) -> Bool {
    // The old one is released after the lock.
    let old = sleeper.withLock { sleeper -> Sleeper? in
      guard let old = sleeper, old.identifier == identifier else { return nil }
      sleeper = new
      return old
    }
    return old != nil
  }

  private func replaceSleeper(by new: Sleeper?) {
    let old = sleeper.withLock { sleeper in
      defer { sleeper = new }
      return sleeper
    }
    for task in old?.tasks ?? [] { task.cancel() }
  }
}
