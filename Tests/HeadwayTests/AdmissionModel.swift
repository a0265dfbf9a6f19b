@testable import Headway

/// The rules of a queue, written so simply that they can be seen to be right: one array, searched from end to end.
struct AdmissionModel {
  enum State {
    case waiting, started, finished
  }

  struct Entry {
    let isBarrier: Bool
    var priority: QueuePriority
    var dependencies: Set<Int>
    var state = State.waiting
    var isCancelled = false
    /// It was started as cancelled, and so is not counted against the limit.
    var isLeaving = false
  }

  /// In the order of adding.
  var entries: [Entry] = []
  var limit = Int.max
  var isSuspended = false

  var unfinished: [Int] { entries.indices.filter { entries[$0].state != .finished } }
  var running: Int { entries.count { $0.state == .started && !$0.isLeaving } }

  func isReady(_ number: Int) -> Bool {
    entries[number].isCancelled || entries[number].dependencies.allSatisfy { entries[$0].state == .finished }
  }

  /// C5: the cancelled that wait leave without regard to anything.
  var leaving: [Int] { entries.indices.filter { entries[$0].state == .waiting && entries[$0].isCancelled } }

  /// P2 and Q8: those that suspension and limit alone may hold back.
  private var candidates: [Int] {
    entries.indices.filter { number in
      guard entries[number].state == .waiting, !entries[number].isCancelled, isReady(number) else { return false }
      let before = entries[..<number].filter { $0.state != .finished }
      return entries[number].isBarrier ? before.isEmpty : before.allSatisfy { !$0.isBarrier }
    }
  }

  /// How many could start.
  var startable: Int {
    let places = isSuspended ? 0 : max(0, limit - running)
    return leaving.count + min(places, candidates.count)
  }

  /// Starts the operation that must be next.
  mutating func next() -> Int? {
    if let first = leaving.first {
      entries[first].state = .started
      entries[first].isLeaving = true
      return first
    }
    guard !isSuspended, running < limit else { return nil }
    var best: Int?
    for number in candidates where best.map({ entries[number].priority > entries[$0].priority }) ?? true {
      best = number
    }
    if let best { entries[best].state = .started }
    return best
  }
}
