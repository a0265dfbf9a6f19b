@testable import Headway

/// The rules of a queue, written so simply that they are obviously right: one array, searched from end to end.
struct AdmissionModel {
  enum State {
    case waiting, started, finished
  }

  struct Entry {
    let isBarrier: Bool
    /// Its own code runs when it is started cancelled.
    let hasCode: Bool
    var priority: QueuePriority
    var dependencies: Set<Int>
    var state = State.waiting
    var isCancelled = false
    /// The operation was started as cancelled, so it is not counted against the limit.
    var isLeaving = false
    /// A thread has taken it into its run, or has removed it from there and is about to start it.
    var isTaken = false
    /// The operation was started in a batch, which is counted instead of the operation.
    var isInRun = false
  }

  /// In insertion order.
  var entries: [Entry] = []
  var limit = Int.max
  var isSuspended = false
  var order = QueueOrder.priority

  var unfinished: [Int] { entries.indices.filter { entries[$0].state != .finished } }
  /// The number of runs that threads have taken.
  var runs = 0
  var running: Int { entries.count { $0.state == .started && !$0.isLeaving && !$0.isInRun } + runs }

  func isReady(_ number: Int) -> Bool {
    entries[number].isCancelled || entries[number].dependencies.allSatisfy { entries[$0].state == .finished }
  }

  private var cancelled: [Int] {
    entries.indices.filter { entries[$0].state == .waiting && entries[$0].isCancelled && !entries[$0].isTaken }
  }

  /// C5: waiting cancelled operations leave unconditionally.
  var leaving: [Int] { cancelled.filter { !entries[$0].hasCode } }

  /// C5: cancelled operations that have code to run wait for a place, and for nothing else.
  var leavingWithinLimit: [Int] { cancelled.filter { entries[$0].hasCode } }

  var hasCancelled: Bool { !cancelled.isEmpty }

  /// P2, Q8 and Q12: operations that only suspension and the limit can delay.
  var candidates: [Int] {
    entries.indices.filter { number in
      guard entries[number].state == .waiting, !entries[number].isCancelled, isReady(number) else { return false }
      let before = entries[..<number].filter { $0.state != .finished }
      if order == .fifo || entries[number].isBarrier { return before.isEmpty }
      return before.allSatisfy { !$0.isBarrier }
    }
  }

  /// How many operations could start, excluding operations that threads are about to start.
  func startable(beside others: Set<Int> = []) -> Int {
    let places = isSuspended ? 0 : max(0, limit - running)
    return leaving.count + min(places, leavingWithinLimit.count + candidates.count { !others.contains($0) })
  }

  /// Whether `number` must start before `other`.
  func precedes(_ number: Int, _ other: Int) -> Bool {
    order == .fifo || entries[number].priority == entries[other].priority
      ? number < other : entries[number].priority > entries[other].priority
  }

  /// Starts the operation that must be next.
  mutating func next() -> Int? {
    if let first = leaving.first {
      entries[first].state = .started
      entries[first].isLeaving = true
      return first
    }
    guard !isSuspended, running < limit else { return nil }
    let best = leavingWithinLimit.first ?? candidates.filter { !entries[$0].isTaken }.min(by: precedes)
    if let best { entries[best].state = .started }
    return best
  }
}
