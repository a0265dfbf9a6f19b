/// What waits for workers, oldest first: each piece of work with how many workers it asks for.
///
/// Work that has been served goes behind the others for its next worker. So work that asks for many workers does not
/// keep out work that asks for one. Every change is O(1), except where noted.
struct WaitingWork {
  /// Where a piece of work is, until it has been served or withdrawn.
  typealias Place = Int

  private static let none = -1

  private struct Entry {
    /// Nil for an entry that is not in use.
    var work: (any PoolWork)?
    var count: Int
    var previous: Place
    /// Of an entry that is not in use, the next one of those.
    var next: Place
  }

  // A list through the elements of one array, whose unused elements are reused: it allocates nothing for one more.
  private var entries: [Entry] = []
  private var (first, last, firstUnused) = (none, none, none)

  /// How many workers are asked for in all.
  private(set) var count = 0
  var isEmpty: Bool { count == 0 }

  /// The different pieces of work, the oldest first, each at least once.
  ///
  /// O(*n*) in their number.
  var works: [any PoolWork] {
    var works: [any PoolWork] = []
    var place = first
    while place != Self.none {
      if let work = entries[place].work { works.append(work) }
      place = entries[place].next
    }
    return works
  }

  /// Asks for so many workers.
  ///
  /// - Returns: Where the work is; nil if `count` is 0.
  @discardableResult
  mutating func append(_ work: any PoolWork, count: Int) -> Place? {
    guard count > 0 else { return nil }
    self.count += count
    if last != Self.none, entries[last].work === work {
      entries[last].count += count
      return last
    }
    let place = unusedPlace()
    (entries[place].work, entries[place].count) = (work, count)
    link(place)
    return place
  }

  /// Asks for so many more helpers for work, which has one entry however often this is called.
  mutating func append(helpersFor work: any HelpedWork, count: Int) {
    guard count > 0 else { return }
    guard let place = work.place, isAt(place, work) else {
      work.place = append(work, count: count)
      return
    }
    self.count += count
    entries[place].count += count
  }

  /// Takes the oldest.
  mutating func popFirst() -> (any PoolWork)? { first == Self.none ? nil : take(first) }

  /// Takes the oldest for which `condition` holds; the rest of that work keeps its place.
  ///
  /// O(*n*) in the number of pieces of work.
  mutating func popFirst(where condition: (any PoolWork) -> Bool) -> (any PoolWork)? {
    var place = first
    while place != Self.none {
      if let work = entries[place].work, condition(work) {
        count -= 1
        entries[place].count -= 1
        if entries[place].count == 0 {
          unlink(place)
          free(place)
        }
        return work
      }
      place = entries[place].next
    }
    return nil
  }

  /// Asks for no more helpers for work.
  ///
  /// - Returns: How many it still asked for. The caller has a reference to the work, so nothing is freed here.
  mutating func withdraw(_ work: any HelpedWork) -> Int {
    guard let place = work.place, isAt(place, work) else { return 0 }
    let count = entries[place].count
    self.count -= count
    unlink(place)
    free(place)
    return count
  }

  // MARK: The list

  /// The place may have been freed, and used again for other work, or for the same.
  private func isAt(_ place: Place, _ work: any PoolWork) -> Bool { entries[place].work === work }

  /// Takes one worker's share of the work at a place, which goes behind the others for the rest.
  private mutating func take(_ place: Place) -> (any PoolWork)? {
    let work = entries[place].work
    count -= 1
    entries[place].count -= 1
    if entries[place].count > 0, place == last { return work }
    unlink(place)
    guard entries[place].count > 0 else {
      free(place)
      return work
    }
    if last != Self.none, entries[last].work === work {
      entries[last].count += entries[place].count
      free(place)
    } else {
      link(place)
    }
    return work
  }

  private mutating func link(_ place: Place) {
    (entries[place].previous, entries[place].next) = (last, Self.none)
    if last == Self.none { first = place } else { entries[last].next = place }
    last = place
  }

  private mutating func unlink(_ place: Place) {
    let (previous, next) = (entries[place].previous, entries[place].next)
    if previous == Self.none { first = next } else { entries[previous].next = next }
    if next == Self.none { last = previous } else { entries[next].previous = previous }
  }

  private mutating func unusedPlace() -> Place {
    guard firstUnused != Self.none else {
      entries.append(Entry(work: nil, count: 0, previous: Self.none, next: Self.none))
      return entries.count - 1
    }
    defer { firstUnused = entries[firstUnused].next }
    return firstUnused
  }

  private mutating func free(_ place: Place) {
    (entries[place].work, entries[place].count, entries[place].next) = (nil, 0, firstUnused)
    firstUnused = place
  }
}
