// The data of the tram app: the timetable, and the service that provides it.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

struct Departure: Sendable {
  let time: String
  let line: String
}

/// The saved timetable, with one line of text per event.
final class Timetable: @unchecked Sendable {
  private let lock = NSLock()
  private var departures: [String: [Departure]] = [:]
  private var lines: [String] = []

  var count: Int { lock.withLock { departures.values.reduce(0) { $0 + $1.count } } }

  func save(_ new: [Departure], for stop: String) { lock.withLock { departures[stop] = new } }

  func board(for stop: String) -> String {
    let found = lock.withLock { departures[stop] ?? [] }
    return found.map { "\($0.time) tram \($0.line)" }.joined(separator: ", ")
  }

  func note(_ line: String) { lock.withLock { lines.append(line) } }

  func takeNotes() -> [String] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }
}

/// Represents the web service: responds after a moment, on any thread.
enum Service {
  static let answers = [
    "Harbour": "08:15 4\n08:25 4\n08:31 11",
    "Market": "08:02 1\n08:12 1",
    "Museum": "08:07 11\nlate 11\n08:47 11",
  ]

  static func request(_ stop: String, completion: @escaping @Sendable (String?) -> Void) {
    let delay = DispatchTimeInterval.milliseconds(stop.count)
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { completion(answers[stop]) }
  }
}

/// Counts the callers between `enter()` and `leave()`: the current number and the maximum.
final class Gauge: @unchecked Sendable {
  private let lock = NSLock()
  private var inside = 0
  private(set) var highest = 0

  func enter() {
    lock.withLock {
      inside += 1
      highest = max(highest, inside)
    }
  }

  func leave() { lock.withLock { inside -= 1 } }
}
