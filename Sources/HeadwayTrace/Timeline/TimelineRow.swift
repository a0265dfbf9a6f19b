/// A row of a timeline: bars that do not overlap.
struct TimelineRow {
  enum Kind {
    case spans, runs, waits
  }

  let kind: Kind
  /// The position of the thread.
  let thread: Int
  var bars: [TimelineBar]
  /// Whether the row has the bars that found no other row, so that they overlap.
  let overlaps: Bool
}

/// A bar of a timeline.
struct TimelineBar {
  enum Content {
    case run(operation: Int, attempt: Int)
    case wait(operation: Int)
    case span(Int)
    /// Several bars that are too narrow, or that overlap.
    case many(count: Int, failures: Int)
  }

  var content: Content
  var period: Period

  /// The number of runs, waits, or spans that the bar shows.
  var count: Int {
    if case .many(let count, _) = content { count } else { 1 }
  }
}

extension TraceRecording {
  /// The rows of a timeline, thread by thread: spans above runs above waits.
  ///
  /// - Parameters:
  ///   - extent: The end of the runs that had not ended.
  ///   - runRowLimit: How many rows with runs, or with spans, a thread has at most. A further one has all the other
  ///     bars, which overlap.
  ///   - waitRowLimit: The same for rows with waits.
  /// - Returns: The rows; at least one for each thread.
  func timelineRows(extent: Int64, runRowLimit: Int = 24, waitRowLimit: Int = 4) -> [TimelineRow] {
    var bars: [Int: [TimelineRow.Kind: [TimelineBar]]] = [:]
    for thread in threads.indices { bars[thread] = [:] }
    for (position, operation) in operations.enumerated() {
      for (attempt, period) in runPeriods(of: operation, extent: extent).enumerated() {
        let bar = TimelineBar(content: .run(operation: position, attempt: attempt + 1), period: period)
        bars[operation.runs[attempt].thread, default: [:]][.runs, default: []].append(bar)
      }
      // A wait is drawn at the thread that ended it.
      guard let wait = queueWait(of: operation, extent: extent), let thread = operation.runs.first?.thread else {
        continue
      }
      bars[thread, default: [:]][.waits, default: []]
        .append(TimelineBar(content: .wait(operation: position), period: wait))
    }
    for (position, span) in spans.enumerated() {
      let period = Period(from: span.start, to: span.end ?? extent)
      bars[span.thread, default: [:]][.spans, default: []].append(TimelineBar(content: .span(position), period: period))
    }
    for mark in marks { bars[mark.thread, default: [:]][.runs, default: []] += [] }

    return bars.sorted { $0.key < $1.key }.flatMap { thread, kinds in
      Self.rows(.spans, kinds[.spans] ?? [], thread: thread, limit: runRowLimit)
        + Self.rows(.runs, kinds[.runs] ?? [], thread: thread, limit: runRowLimit)
        + Self.rows(.waits, kinds[.waits] ?? [], thread: thread, limit: waitRowLimit)
    }
  }

  private static func rows(
    _ kind: TimelineRow.Kind, _ bars: [TimelineBar], thread: Int, limit: Int
  ) -> [TimelineRow] {
    let sorted = bars.sorted { Period.precedes($0.period, $1.period) }
    let numbers = Tracks.assign(sorted.map(\.period), limit: limit)
    let count = max((numbers.max() ?? -1) + 1, kind == .runs ? 1 : 0)
    var rows = (0..<count).map { TimelineRow(kind: kind, thread: thread, bars: [], overlaps: $0 == limit) }
    for (bar, number) in zip(sorted, numbers) { rows[number].bars.append(bar) }
    return rows
  }
}
