extension TimelineRow {
  /// Merges neighboring bars that are shorter than a time, and bars that overlap.
  ///
  /// - Parameters:
  ///   - shortest: The length of the shortest bar that remains alone. Shorter ones are merged if less than this time is
  ///     between them.
  ///   - isFailure: Whether a bar shows an operation that failed, which the merged bar counts.
  /// - Returns: The row with the merged bars.
  /// - Complexity: O(*n*)
  func merged(shortest: Double, isFailure: (TimelineBar) -> Bool) -> TimelineRow {
    var merged: [TimelineBar] = []
    for bar in bars {
      guard let last = merged.last, joins(last, bar, shortest) else {
        merged.append(bar)
        continue
      }
      var failures = isFailure(bar) ? 1 : 0
      if case .many(_, let others) = last.content { failures += others } else if isFailure(last) { failures += 1 }
      merged[merged.count - 1] = TimelineBar(
        content: .many(count: last.count + 1, failures: failures),
        period: Period(from: last.period.start, to: max(last.period.end, bar.period.end)))
    }
    return TimelineRow(kind: kind, thread: thread, bars: merged, overlaps: overlaps)
  }

  private func joins(_ last: TimelineBar, _ bar: TimelineBar, _ shortest: Double) -> Bool {
    if overlaps, bar.period.start < last.period.end { return true }
    let isNarrow = Double(bar.period.length) < shortest
    let isLastNarrow = last.count > 1 || Double(last.period.length) < shortest
    return isNarrow && isLastNarrow && Double(bar.period.start - last.period.end) < shortest
  }
}

extension TraceRecording {
  /// Merges bars that are narrower than half a pixel, or than more pixels if that leaves too many bars.
  ///
  /// - Parameters:
  ///   - rows: The rows of the timeline.
  ///   - nanosecondsPerPixel: The time that one pixel represents.
  ///   - limit: How many bars the timeline has at most, if merging can achieve that.
  /// - Returns: The rows with the merged bars.
  func merged(_ rows: [TimelineRow], nanosecondsPerPixel: Double, limit: Int = 8000) -> [TimelineRow] {
    let isFailure = { (bar: TimelineBar) in
      if case .run(let operation, _) = bar.content { operations[operation].result == .failure } else { false }
    }
    var width = 0.5
    while true {
      let merged = rows.map { $0.merged(shortest: width * nanosecondsPerPixel, isFailure: isFailure) }
      if merged.reduce(0, { $0 + $1.bars.count }) <= limit || width >= 16 { return merged }
      width *= 1.4
    }
  }
}
