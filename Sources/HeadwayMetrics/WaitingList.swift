#if Observability
/// The unfinished operations of a queue with their times, in insertion order.
///
/// Each change takes constant time: the operations that have never started form a doubly linked list in an array. Times
/// are nanoseconds of a ``MetricsClock``. The list is not generic in a type of instants, because the compiler would not
/// specialize it.
struct WaitingList {
  enum State {
    case waiting, running
  }

  struct Entry {
    fileprivate let key: ObjectIdentifier
    /// When the operation was added.
    let added: Int64
    /// When its first attempt started.
    fileprivate(set) var started: Int64?
    fileprivate(set) var state = State.waiting
    // The neighbors in the list of operations that have never started; -1 if there is none.
    fileprivate var next = -1
    fileprivate var previous = -1
  }

  private var entries: [Entry?] = []
  private var free: [Int] = []
  private var positions: [ObjectIdentifier: Int] = [:]
  private var first = -1
  private var last = -1

  /// When the oldest operation that has not started was added.
  var oldest: Int64? { first < 0 ? nil : entries[first]?.added }

  /// How many operations are in a state.
  ///
  /// O(*n*).
  func count(_ state: State) -> Int { entries.count { $0?.state == state } }

  /// Adds an operation that waits.
  ///
  /// - Returns: Whether the operation was not in the list.
  mutating func add(_ key: ObjectIdentifier, at now: Int64) -> Bool {
    guard positions[key] == nil else { return false }
    var entry = Entry(key: key, added: now)
    entry.previous = last
    let position = free.popLast() ?? entries.count
    if position == entries.count { entries.append(entry) } else { entries[position] = entry }
    if last >= 0 { entries[last]?.next = position } else { first = position }
    last = position
    positions[key] = position
    return true
  }

  /// Notes that an attempt starts.
  ///
  /// - Returns: When the operation was added, if this is its first attempt, and its previous state; nil if it is not in
  ///   the list.
  mutating func start(_ key: ObjectIdentifier, at now: Int64) -> (added: Int64?, previous: State)? {
    guard let position = positions[key], let entry = entries[position] else { return nil }
    entries[position]?.state = .running
    guard entry.started == nil else { return (nil, entry.state) }
    unlink(position)
    entries[position]?.started = now
    return (entry.added, entry.state)
  }

  /// Notes that the operation waits for its next attempt.
  ///
  /// - Returns: Whether the operation was running.
  mutating func pause(_ key: ObjectIdentifier) -> Bool {
    guard let position = positions[key], entries[position]?.state == .running else { return false }
    entries[position]?.state = .waiting
    return true
  }

  /// Removes an operation.
  mutating func remove(_ key: ObjectIdentifier) -> Entry? {
    guard let position = positions.removeValue(forKey: key), let entry = entries[position] else { return nil }
    if entry.started == nil { unlink(position) }
    entries[position] = nil
    free.append(position)
    if positions.isEmpty, entries.count > 1_024 { self = WaitingList() }
    return entry
  }

  private mutating func unlink(_ position: Int) {
    guard let entry = entries[position] else { return }
    if entry.previous >= 0 { entries[entry.previous]?.next = entry.next } else { first = entry.next }
    if entry.next >= 0 { entries[entry.next]?.previous = entry.previous } else { last = entry.previous }
  }
}
#endif
