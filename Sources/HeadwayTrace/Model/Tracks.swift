/// Distributes periods over tracks so that the periods on one track do not overlap.
enum Tracks {
  /// Returns the track of each period.
  ///
  /// A period is placed on the lowest track that is free.
  ///
  /// - Parameters:
  ///   - periods: The periods, sorted by ``Period/precedes(_:_:)``.
  ///   - nests: Whether a period may also be inside another one on the same track. Such a period is placed on the
  ///     track of the period before it, so that work inside an operation stays on the track of that operation.
  ///   - limit: The number of tracks without overlaps. Periods that find none of them free are on track `limit`.
  /// - Returns: The numbers of the tracks, from 0.
  /// - Complexity: O(*n* log *n*)
  static func assign(_ periods: [Period], nests: Bool = false, limit: Int = .max) -> [Int] {
    // The ends of the periods that are open on each track, the innermost last.
    var openEnds: [[Int64]] = []
    // Tracks with an open period, by the end of the outermost one; and tracks without.
    var busy = MinimumHeap<BusyTrack>()
    var free = MinimumHeap<Int>()
    var last: Int?

    return periods.map { period in
      while let track = busy.minimum, track.end <= period.start {
        busy.removeMinimum()
        openEnds[track.number] = []
        free.insert(track.number)
      }
      if nests, let last, !openEnds[last].isEmpty {
        while let end = openEnds[last].last, end <= period.start { openEnds[last].removeLast() }
        if let end = openEnds[last].last, end >= period.end {
          openEnds[last].append(period.end)
          return last
        }
      }
      guard !free.isEmpty || openEnds.count < limit else { return limit }
      let number = free.removeMinimum() ?? openEnds.count
      if number == openEnds.count { openEnds.append([]) }
      openEnds[number] = [period.end]
      busy.insert(BusyTrack(end: period.end, number: number))
      last = number
      return number
    }
  }

  private struct BusyTrack: Comparable {
    let end: Int64
    let number: Int

    static func < (left: BusyTrack, right: BusyTrack) -> Bool {
      (left.end, left.number) < (right.end, right.number)
    }
  }
}

/// A binary heap that removes its smallest element in logarithmic time.
struct MinimumHeap<Element: Comparable> {
  private var elements: [Element] = []

  var isEmpty: Bool { elements.isEmpty }
  var minimum: Element? { elements.first }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  @discardableResult
  mutating func removeMinimum() -> Element? {
    guard let minimum = elements.first else { return nil }
    let last = elements.removeLast()
    guard !elements.isEmpty else { return minimum }
    elements[0] = last
    var parent = 0
    while 2 * parent + 1 < elements.count {
      var child = 2 * parent + 1
      if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
      guard elements[child] < elements[parent] else { break }
      elements.swapAt(child, parent)
      parent = child
    }
    return minimum
  }
}
