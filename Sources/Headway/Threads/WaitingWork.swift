/// The work that waits for workers, oldest first, with the number of workers that each piece requests.
///
/// Work that has been served moves behind the other work for its next worker. As a result, work that requests many
/// workers does not keep out work that requests one. Every change is O(1), except where noted.
struct WaitingWork {
  /// The position of a piece of work, until it has been served or withdrawn.
  typealias Place = Int

  private static let none = -1

  private struct Entry {
    /// Nil in an unused entry.
    var work: (any PoolWork)?
    var count: Int
    var previous: Place
    /// In an unused entry, the next unused entry.
    var next: Place
  }

  // A linked list in the elements of one array, whose unused elements are reused. As a result, adding one usually
  // allocates nothing.
  private var entries: [Entry] = []
  private var (first, last, firstUnused) = (none, none, none)

  /// The total number of requested workers.
  private(set) var count = 0
  var isEmpty: Bool { count == 0 }

  /// The different pieces of work, oldest first, each at least once.
  ///
  /// O(*n*) in the number of pieces.
  var works: [any PoolWork] {
    var works: [any PoolWork] = []
    var place = first
    while place != Self.none {
      if let work = entries[place].work { works.append(work) }
      place = entries[place].next
    }
    return works
  }

  /// Requests `count` workers.
  ///
  /// - Returns: The place of the work; nil if `count` is 0.
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

  /// Requests `count` more helpers for work.
  ///
  /// The work has one entry, regardless of how often this is called.
  mutating func append(helpersFor work: any HelpedWork, count: Int) {
    guard count > 0 else { return }
    guard let place = work.place, isAt(place, work) else {
      work.place = append(work, count: count)
      return
    }
    self.count += count
    entries[place].count += count
  }

  /// Takes one request of the oldest work.
  mutating func popFirst() -> (any PoolWork)? { first == Self.none ? nil : take(first) }

  /// Takes one request of the oldest work that satisfies `condition`.
  ///
  /// The rest of that work keeps its place.
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

  /// Withdraws the requests of work for helpers.
  ///
  /// - Returns: The number of withdrawn requests. The caller has a reference to the work, so nothing is freed here.
  mutating func withdraw(_ work: any HelpedWork) -> Int {
    guard let place = work.place, isAt(place, work) else { return 0 }
    let count = entries[place].count
    self.count -= count
    unlink(place)
    free(place)
    return count
  }

  // MARK: The list

  /// Whether a place contains the given work.
  ///
  /// The place might have been freed and reused for other work, or for the same.
  private func isAt(_ place: Place, _ work: any PoolWork) -> Bool { entries[place].work === work }

  /// Takes one request of the work at a place.
  ///
  /// The rest of the work moves behind the other work.
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
