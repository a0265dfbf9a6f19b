/// Describes a critical path in words.
struct CriticalPathText {
  let recording: TraceRecording
  let extent: Int64
  let steps: [CriticalPath.Step]
  let limit: CriticalPath.Limit?

  /// How many names a path has at most.
  private static let nameLimit = 7

  var description: String {
    ([work] + waits + [suspension].compactMap { $0 }).joined(separator: " ")
  }

  private var work: String {
    let run = steps.reduce(0) { $0 + ($1.end - $1.start) }
    let percent = extent > 0 ? Int((Double(run) / Double(extent) * 100).rounded(.down)) : 0
    let path = steps.count == 1 ? names[0] : "the path \(names.joined(separator: " → "))"
    return "\(percent)% of the \(timeText(extent)) is work on \(path)."
  }

  /// The names of the steps; the ones in the middle of a long path are counted.
  private var names: [String] {
    let names = steps.map { recording.operations[$0.operation].name.onOneLine.shortened(to: 60) }
    guard names.count > Self.nameLimit else { return names }
    let omitted = names.count - Self.nameLimit + 1
    return names.prefix(3) + ["(\(omitted) more)"] + names.suffix(Self.nameLimit - 4)
  }

  private var waits: [String] {
    guard let limit else { return longestWait.map { [$0] } ?? [] }
    var count = ""
    if let maximum = recording.queues[limit.queue].maxConcurrentOperationCount { count = " (\(maximum))" }
    let name = recording.queueName(limit.queue).onOneLine
    let wait =
      "For \(timeText(limit.waitDuration)), operations on this path waited because “\(name)” was at its limit\(count)."
    let saving =
      limit.possibleSaving > .zero
      ? "Without that limit, the last operation could finish at most \(timeText(limit.possibleSaving)) earlier."
      : "Without that limit, the last operation would not finish earlier."
    return [wait, saving]
  }

  /// The longest wait for a suspended queue, if it took at least a hundredth of the recording.
  private var suspension: String? {
    var end: Int64 = 0
    var longest: (time: Int64, queue: Int)?
    for step in steps {
      let operation = recording.operations[step.operation]
      let gap = Period(from: end, to: step.start)
      end = step.end
      guard let queue = recording.queue(of: operation), let wait = recording.queueWait(of: operation, extent: extent)
      else { continue }
      let waiting = Period(from: max(gap.start, wait.start), to: min(gap.end, wait.end))
      let time = waiting.covered(by: recording.suspendedPeriods(ofQueue: queue, extent: extent))
      if time > longest?.time ?? 0 { longest = (time, queue) }
    }
    guard let longest, longest.time > extent / 100 else { return nil }
    let name = recording.queueName(longest.queue).onOneLine
    return "For \(timeText(longest.time)), an operation on this path waited because “\(name)” was suspended."
  }

  /// The longest wait for a thread or before being added, if it took at least a hundredth of the recording.
  private var longestWait: String? {
    var end: Int64 = 0
    var longest: (gap: Int64, step: CriticalPath.Step)?
    for step in steps {
      if step.start - end > longest?.gap ?? 0 { longest = (step.start - end, step) }
      end = step.end
    }
    guard let longest, longest.gap > extent / 100 else { return nil }
    let name = recording.operations[longest.step.operation].name.onOneLine.shortened(to: 60)
    switch longest.step.waitReason {
    case .thread where longest.step.wait > longest.gap / 2:
      let wait = timeText(min(longest.gap, longest.step.wait))
      return "For \(wait), “\(name)” was ready, but was not started."
    case .added, .thread:
      let reference = longest.step == steps.first ? "the beginning" : "the step before it"
      return "“\(name)” started \(timeText(longest.gap)) after \(reference)."
    case .dependency, .limit: return nil
    }
  }
}
