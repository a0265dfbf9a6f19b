#if Drawing
/// A cache that keeps the most recently used values, up to a cost limit.
struct RecentValues<Key: Hashable, Value> {
  private struct Entry {
    let value: Value
    let cost: Int
    var lastUse: Int
  }

  /// The maximum total cost.
  let costLimit: Int
  private(set) var cost = 0
  private var entries: [Key: Entry] = [:]
  /// Uses in chronological order; those before `firstUse` have been removed.
  ///
  /// A use is ignored if its entry has been used again since.
  private var uses: [(key: Key, number: Int)] = []
  private var firstUse = 0
  private var useCount = 0

  init(costLimit: Int) { self.costLimit = costLimit }

  var count: Int { entries.count }

  /// Returns a value and records this use of it.
  mutating func value(for key: Key) -> Value? {
    guard let value = entries[key]?.value else { return nil }
    noteUse(of: key)
    return value
  }

  /// Stores a value and replaces an existing one; a value whose cost exceeds the limit is not stored.
  mutating func insert(_ value: Value, for key: Key, cost added: Int) {
    if let old = entries.removeValue(forKey: key) { cost -= old.cost }
    guard added <= costLimit else { return }
    while cost > costLimit - added { removeOldest() }
    entries[key] = Entry(value: value, cost: added, lastUse: 0)
    cost += added
    noteUse(of: key)
  }

  mutating func removeAll() {
    (entries, uses, firstUse, cost) = ([:], [], 0, 0)
  }

  private mutating func noteUse(of key: Key) {
    useCount += 1
    entries[key]?.lastUse = useCount
    uses.append((key, useCount))
    // This way, each use takes amortized constant time.
    guard uses.count > 64, uses.count > 4 * entries.count else { return }
    uses = uses[firstUse...].filter { entries[$0.key]?.lastUse == $0.number }
    firstUse = 0
  }

  private mutating func removeOldest() {
    // Each entry has a last use, so the list contains a use as long as there is an entry.
    while firstUse < uses.count {
      let use = uses[firstUse]
      firstUse += 1
      guard let entry = entries[use.key], entry.lastUse == use.number else { continue }
      entries[use.key] = nil
      cost -= entry.cost
      return
    }
  }
}
#endif
