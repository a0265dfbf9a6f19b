import CHeadway
import Synchronization

/// An alarm that rings when more operations of a queue may start.
class QueueAlarm: Alarm, @unchecked Sendable {  // Properties that change are atomic.
  private final let queue: Unmanaged<OperationQueue>
  /// When the alarm rings.
  ///
  /// Written under the queue's lock. Read under the lock of the clock, after the thread that wrote it has set the
  /// alarm.
  private final let alarmTime = Atomic<ClockTime>(.max)
  private final let isRetired = Atomic<Bool>(false)

  init(of queue: OperationQueue) { self.queue = .passUnretained(queue) }

  /// Notes that operations wait for a time.
  ///
  /// - Returns: True if the caller must set the alarm after the lock.
  final func beginWaiting(until time: ClockTime) -> Bool {
    guard alarmTime.load(ordering: .relaxed) == .max else { return false }
    alarmTime.store(time, ordering: .releasing)
    return true
  }

  /// Whether the alarm is set, or is about to be.
  final var isWaiting: Bool { alarmTime.load(ordering: .relaxed) < .max }

  final override var nextTime: ClockTime {
    isRetired.load(ordering: .acquiring) ? .max : alarmTime.load(ordering: .acquiring)
  }

  /// Removes the alarm permanently, because the queue no longer uses it or is being freed.
  ///
  /// Another thread might be about to set the alarm. Either it finds that the alarm is retired, or this function
  /// removes the alarm.
  final func retire(from clock: PolicyClock) {
    isRetired.store(true, ordering: .releasing)
    clock.remove(self)
  }

  final override func retainTarget() -> Bool { swift_tryRetain(queue.toOpaque()) != nil }

  final override func ring(at now: ClockTime) {
    let queue = queue.takeRetainedValue()
    var effects = Effects()
    queue.update(collectingBatches: true, leaving: &effects) { state in
      alarmTime.store(.max, ordering: .relaxed)
      ring(at: now, in: &state)
    }
    effects.submit(to: nil)
    ReleasedChain.release(queue)
  }

  /// Allows more operations to start.
  ///
  /// Called under the queue's lock.
  func ring(at now: ClockTime, in state: inout QueueState) {}
}
