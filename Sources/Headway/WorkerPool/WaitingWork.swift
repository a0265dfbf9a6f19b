/// What waits for workers, oldest first: each piece of work with how many workers it asks for.
///
/// Whoever has been served stands behind the others for its next worker, so what asks for many does not keep out what
/// asks for one.
struct WaitingWork {
  private var entries = FirstInFirstOut<(work: any PoolWork, count: Int)>()

  /// How many workers are asked for in all.
  private(set) var count = 0
  var isEmpty: Bool { count == 0 }

  /// The different pieces of work, each at least once.
  var works: [any PoolWork] { (0..<entries.count).map { entries[$0].work } }

  mutating func append(_ work: any PoolWork, count: Int) {
    guard count > 0 else { return }
    self.count += count
    let last = entries.count - 1
    if last >= 0, entries[last].work === work {
      entries[last].count += count
    } else {
      entries.append((work, count))
    }
  }

  /// Takes the oldest.
  mutating func popFirst() -> (any PoolWork)? {
    guard let (work, count) = entries.popFirst() else { return nil }
    self.count -= count
    append(work, count: count - 1)
    return work
  }

  /// Takes the oldest for which `condition` holds.
  ///
  /// O(*n*).
  mutating func popFirst(where condition: (any PoolWork) -> Bool) -> (any PoolWork)? {
    var found: (any PoolWork)?
    for _ in 0..<entries.count {
      guard let (work, count) = entries.popFirst() else { break }
      self.count -= count
      if found == nil, condition(work) {
        found = work
        append(work, count: count - 1)
      } else {
        append(work, count: count)
      }
    }
    return found
  }
}
