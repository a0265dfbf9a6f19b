/// Values in the order of appending.
///
/// Each can be removed by its key.
///
/// Changes take amortized constant time, unless their comments specify otherwise. A removal leaves a hole, and the list
/// is compacted when more than half of it consists of holes. The index of a long list is built when the list is first
/// searched.
struct KeyedList<Key: Hashable, Value> {
  private struct Entry {
    let key: Key?
    var value: Value
  }

  /// Up to this number of entries, a search is as fast as the index.
  private static var longestSearched: Int { 16 }

  /// Nil at the position of a value that was removed.
  private var entries: [Entry?] = []
  /// All entries before this position are holes.
  private var head = 0
  private var positions: [Key: Int]?
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The values, in O(*n*).
  var values: [Value] {
    var values: [Value] = []
    forEach { values.append($0) }
    return values
  }

  /// Calls `body` with each value, in O(*n*).
  func forEach(_ body: (Value) -> Void) {
    for position in head..<entries.count { if let entry = entries[position] { body(entry.value) } }
  }

  /// Appends a value with a key that no other value has, or without one.
  mutating func append(_ value: Value, _ key: Key?) {
    if let key { positions?[key] = entries.count }
    entries.append(Entry(key: key, value: value))
    count += 1
  }

  /// Removes the value with a key, if there is one.
  mutating func remove(_ key: Key) -> Value? { position(of: key).flatMap { remove(at: $0) } }

  /// Removes the oldest value.
  mutating func removeFirst() -> Value? {
    while head < entries.count {
      if entries[head] != nil { return remove(at: head) }
      head += 1
    }
    return nil
  }

  /// Removes and returns all values, in O(*n*).
  mutating func removeAll() -> [Value] {
    let all = values
    self = KeyedList()
    return all
  }

  /// Returns the value with a key, if there is one.
  mutating func value(of key: Key) -> Value? { position(of: key).flatMap { entries[$0]?.value } }

  /// Changes the value with a key, if there is one.
  mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
    if let position = position(of: key) { body(&entries[position]!.value) }
  }

  private mutating func position(of key: Key) -> Int? {
    if entries.count - head <= Self.longestSearched { return (head..<entries.count).first { entries[$0]?.key == key } }
    if positions == nil { buildIndex() }
    return positions?[key]
  }

  private mutating func remove(at position: Int) -> Value? {
    guard let entry = entries[position] else { return nil }
    entries[position] = nil
    if let key = entry.key { positions?[key] = nil }
    count -= 1
    if entries.count > Self.longestSearched, entries.count > 2 * count {
      closeUp()
    } else if count == 0 {
      entries.removeAll(keepingCapacity: true)
      head = 0
    }
    return entry.value
  }

  private mutating func closeUp() {
    entries.removeAll { $0 == nil }
    head = 0
    if positions != nil { buildIndex() }
  }

  private mutating func buildIndex() {
    var index = [Key: Int](minimumCapacity: entries.count)
    for (position, entry) in entries.enumerated() { if let key = entry?.key { index[key] = position } }
    positions = index
  }
}
