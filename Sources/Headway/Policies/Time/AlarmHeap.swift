/// An object that a ``PolicyClock`` notifies at a certain time.
class Alarm: @unchecked Sendable {  // The lock of the clock protects the position.
  /// The position in the heap of the clock's alarms, or -1.
  ///
  /// Protected by the lock of the clock.
  @exclusivity(unchecked) fileprivate final var position: Int32 = -1

  /// The time when it must ring next, or `ClockTime.max`.
  ///
  /// Called under the lock of the clock.
  var nextTime: ClockTime { .max }

  /// Retains the object that ``ring(at:)`` uses.
  ///
  /// Called under the lock of the clock.
  ///
  /// - Returns: False if the object is being freed, and the alarm must not ring.
  func retainTarget() -> Bool { true }

  /// Performs the due action, with no lock held, then releases the object.
  func ring(at now: ClockTime) {}
}

/// Alarms, ordered by time: a binary heap whose alarms store their positions.
///
/// Setting, changing, and removing an alarm take O(log *n*).
struct AlarmHeap {
  private var entries: [(time: ClockTime, alarm: Alarm)] = []

  var count: Int { entries.count }

  /// When the first alarm rings.
  var firstTime: ClockTime? { entries.first?.time }

  /// Adds an alarm, changes its time, or removes it if the time is `ClockTime.max`.
  mutating func set(_ alarm: Alarm, to time: ClockTime) {
    let position = Int(alarm.position)
    guard time < .max else { return remove(alarm) }
    if position < 0 {
      entries.append((time, alarm))
      place(entries.count - 1)
      moveUp(from: entries.count - 1)
    } else {
      entries[position].time = time
      moveDown(from: moveUp(from: position))
    }
  }

  /// Removes an alarm, if the heap contains it.
  mutating func remove(_ alarm: Alarm) {
    let position = Int(alarm.position)
    guard position >= 0 else { return }
    alarm.position = -1
    let last = entries.removeLast()
    guard position < entries.count else { return }
    entries[position] = last
    place(position)
    moveDown(from: moveUp(from: position))
  }

  /// Removes and returns an alarm whose time has come.
  mutating func popFirst(dueAt now: ClockTime) -> Alarm? {
    guard let first = entries.first, first.time <= now else { return nil }
    remove(first.alarm)
    return first.alarm
  }

  private func place(_ position: Int) { entries[position].alarm.position = Int32(position) }

  @discardableResult
  private mutating func moveUp(from start: Int) -> Int {
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard entries[position].time < entries[parent].time else { break }
      exchange(position, parent)
      position = parent
    }
    return position
  }

  private mutating func moveDown(from start: Int) {
    var position = start
    while true {
      var least = position
      for child in [2 * position + 1, 2 * position + 2] where child < entries.count {
        if entries[child].time < entries[least].time { least = child }
      }
      guard least != position else { return }
      exchange(position, least)
      position = least
    }
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    entries.swapAt(one, other)
    place(one)
    place(other)
  }
}
