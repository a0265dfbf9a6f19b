extension CriticalPathModel {
  /// The limit that the operations of the path waited for longest.
  func longestLimit(of steps: [CriticalPath.Step]) -> CriticalPath.Limit? {
    // How long at least one operation waited for the limit of each queue. The steps are in order of their starts, which
    // are the ends of their waits, so a wait overlaps the waits before it in its beginning or as a whole.
    var waits: [Int: [Period]] = [:]
    for step in steps {
      guard case .limit(let queue) = step.waitReason else { continue }
      waits[queue, default: []].append(Period(from: step.start - step.wait, to: step.start))
    }
    let durations = waits.mapValues { Period.covered($0) }
    guard let (queue, duration) = durations.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
    return CriticalPath.Limit(
      queue: queue, waitDuration: .nanoseconds(duration),
      possibleSaving: .nanoseconds(possibleSaving(withoutLimitOf: queue)))
  }

  /// How much earlier the last operation finishes if no operation waits for the limit of a queue.
  ///
  /// Each operation is moved to the earliest time that its dependencies and its parent allow. If it waited for the
  /// limit of another queue or for a thread, it still starts after the operation whose end allowed it to start. The
  /// times that operations run stay as they are.
  private func possibleSaving(withoutLimitOf queue: Int) -> Int64 {
    let order = work.indices.filter { work[$0] != nil }.sorted { left, right in
      guard let first = work[left], let second = work[right] else { return false }
      return (first.start, first.end, left) < (second.start, second.end, right)
    }
    // How much earlier each operation starts. An operation that comes later in the order, because its times are wrong,
    // is not moved for its dependents.
    var moves = Array(repeating: Int64(0), count: work.count)
    var (end, movedEnd): (Int64, Int64) = (0, 0)
    for position in order {
      guard let work = work[position] else { continue }
      let moved = work.start - earliestStart(of: position, work, moves, withoutLimitOf: queue)
      moves[position] = max(0, moved)
      end = max(end, work.end)
      movedEnd = max(movedEnd, work.end - moves[position])
    }
    return end - movedEnd
  }

  private func earliestStart(
    of position: Int, _ work: Work, _ moves: [Int64], withoutLimitOf queue: Int
  ) -> Int64 {
    // When it was added, and when its last dependency finished: then, and after the moves.
    var (before, after) = (work.added, work.added)
    if let parent = recording.parent(of: position), let other = self.work[parent], other.start <= work.added {
      after -= moves[parent]
    }
    for dependency in recording.dependencies(of: position) {
      guard let other = self.work[dependency] else { continue }
      before = max(before, min(other.end, work.ready))
      after = max(after, min(other.end, work.ready) - moves[dependency])
    }
    let ready = after + (work.ready - before)
    let cause = cause(of: position, work)
    if case .limit(queue) = cause.reason { return ready }
    guard let predecessor = cause.predecessor, cause.predecessorEnd > work.ready else {
      return ready + (work.start - work.ready)
    }
    // It started some time after the slot or the thread became free, and still does.
    let end = cause.predecessorEnd
    return max(ready, end - moves[predecessor]) + (work.start - end)
  }
}
