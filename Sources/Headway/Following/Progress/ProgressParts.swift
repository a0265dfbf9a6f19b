import Synchronization

/// The parts of a progress that have not finished, and how much each has completed.
///
/// Protected by the lock of the progress. A part that has changed is noted once and read when the fraction is next
/// computed. As a result, a report takes constant time, regardless of the number of parts.
struct ProgressParts {
  private struct Part {
    let progress: OperationProgress
    /// The number of units of the whole that the part completes.
    let pendingUnits: Int64
    /// How many of these units were completed when the part was last read.
    var completedUnits = 0.0
  }

  private var parts = KeyedList<ObjectIdentifier, Part>()
  /// The parts that have changed since they were last read, and some that are no longer parts.
  private var reported: [ObjectIdentifier] = []
  /// The sum of the units that all parts had completed when they were last read.
  private var sum = 0.0
  /// How many numbers were added to the sum since it was computed.
  ///
  /// Each addition can round it.
  private var roundings = 0

  /// The progress of each part, in insertion order.
  var all: [OperationProgress] { parts.values.map(\.progress) }

  var isEmpty: Bool { parts.isEmpty }

  /// The number of parts that ``completedUnits()`` reads next.
  var reportedCount: Int { reported.count }

  mutating func append(_ progress: OperationProgress, _ pendingUnits: Int64) {
    parts.append(Part(progress: progress, pendingUnits: pendingUnits), ObjectIdentifier(progress))
    // Even if it has reported before, because the whole might have missed the report before the part was added.
    progress.hasReported.store(true, ordering: .relaxed)
    reported.append(ObjectIdentifier(progress))
  }

  /// Removes a part.
  ///
  /// The caller must hold a reference to it.
  ///
  /// - Returns: The number of units of the whole that it represented; nil if it is not a part.
  mutating func remove(_ progress: OperationProgress) -> Int64? {
    guard let part = parts.remove(ObjectIdentifier(progress)) else { return nil }
    add(-part.completedUnits)
    // While no thread reads the fraction, former parts would accumulate.
    if reported.count > 2 * parts.count + 16 {
      let former = reported
      reported = []
      for part in former where parts.value(of: part) != nil { reported.append(part) }
    }
    return part.pendingUnits
  }

  /// Notes that a part has changed.
  mutating func note(reportOf progress: OperationProgress) {
    guard !progress.hasReported.exchange(true, ordering: .relaxed) else { return }
    reported.append(ObjectIdentifier(progress))
  }

  /// Returns the number of units of the whole that the parts have completed.
  mutating func completedUnits() -> Double {
    while let identifier = reported.popLast() {
      guard let part = parts.value(of: identifier) else { continue }
      part.progress.hasReported.store(false, ordering: .relaxed)
      let completed = Double(part.pendingUnits) * min(1, part.progress.state.withLock { $0.fraction() })
      parts.change(identifier) { $0.completedUnits = completed }
      add(completed - part.completedUnits)
    }
    return sum
  }

  private mutating func add(_ units: Double) {
    guard units != 0 else { return }
    sum += units
    roundings += 1
    guard roundings > parts.count else { return }
    sum = 0
    parts.forEach { sum += $0.completedUnits }
    roundings = 0
  }
}
