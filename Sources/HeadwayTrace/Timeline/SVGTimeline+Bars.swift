extension SVGTimeline {
  /// The place of a bar that is at least half a pixel wide and inside the plot.
  private func horizontal(_ period: Period) -> (x: Double, width: Double) {
    let start = x(period.start)
    let width = max(0.5, x(period.end) - start)
    return (min(start, right - width), width)
  }

  /// How many characters of a name a tooltip has.
  private var nameLimit: Int { recording.operations.count > 1000 ? 60 : 200 }

  /// The bars of all rows, with their names and signs.
  var bars: String {
    mergedRows.flatMap { placed in placed.row.bars.map { element($0, in: placed) } }.joined(separator: "\n")
  }

  private func element(_ bar: TimelineBar, in placed: PlacedRow) -> String {
    let (x, width) = horizontal(bar.period)
    let details = details(bar, of: placed.row.kind)
    let rectangle = """
      <rect class="\(details.classes)" x="\(decimalText(x))" y="\(decimalText(placed.top))" \
      width="\(decimalText(width))" height="\(decimalText(placed.height))">\
      <title>\(details.title.escapedForXML)</title></rect>
      """
    let sign = details.sign.map { element($0, x: x, width: width, placed) } ?? ""
    guard let name = details.name, width > 20 else { return rectangle + sign }
    // A sign is at the right end of a bar with a name.
    let text = fitting(name.shortened(to: nameLimit).onOneLine, width - (details.sign == nil ? 8 : 22))
    guard !text.isEmpty else { return rectangle + sign }
    return rectangle + """
      <text class="name\(details.nameClass)" x="\(decimalText(x + 4))" y="\(decimalText(placed.middle + 4))">\
      \(text.escapedForXML)</text>
      """ + sign
  }

  /// A sign that does not depend on color.
  private enum Sign {
    case cross, dash, chevron
  }

  private struct Details {
    var classes: String
    var title: String
    var name: String?
    var nameClass = ""
    var sign: Sign?
  }

  private func element(_ sign: Sign, x: Double, width: Double, _ placed: PlacedRow) -> String {
    let center = width > 24 ? x + width - 9 : x + width / 2
    let (x, y) = (decimalText(center), decimalText(placed.middle))
    switch sign {
    case .cross:
      return """
        <circle class="badge bad" cx="\(x)" cy="\(y)" r="6"/>\
        <path class="cross" d="M\(x) \(y)m-2.5 -2.5l5 5m0 -5l-5 5"/>
        """
    case .dash:
      return "<circle class=\"badge\" cx=\"\(x)\" cy=\"\(y)\" r=\"6\"/><path class=\"dash\" d=\"M\(x) \(y)m-3 0h6\"/>"
    case .chevron: return "<path class=\"open\" d=\"M\(x) \(y)m-1 -4l4 4l-4 4\"/>"
    }
  }

  private func details(_ bar: TimelineBar, of kind: TimelineRow.Kind) -> Details {
    let time = "\(timeText(bar.period.start)) – \(timeText(bar.period.end)) (\(timeText(bar.period.length)))"
    switch bar.content {
    case .run(let position, let attempt): return details(ofRun: attempt, of: position, time)
    case .wait(let position):
      let operation = recording.operations[position]
      let queue = recording.queue(of: operation)
      let name = queue.map(recording.queueName) ?? "its queue"
      let suspended = recording.suspendedWait(of: operation, extent: extent)
      let suspension = suspended > 0 ? "\nThe queue was suspended for \(timeText(suspended)) in this time." : ""
      return Details(
        classes: "wait \(SVGStyle.queueClass(queue))",
        title: "\(operation.name.shortened(to: nameLimit)) waits for \(name)\n\(time)\(suspension)")
    case .span(let position):
      let name = recording.spans[position].name.shortened(to: nameLimit)
      let sign: Sign? = recording.spans[position].end == nil ? .chevron : nil
      return Details(classes: "span", title: "\(name)\n\(time)", name: name, nameClass: " plain", sign: sign)
    case .many(let count, let failures):
      let classes =
        switch kind {
        case .spans: "span many"
        case .runs: "run many"
        case .waits: "wait many"
        }
      let noun =
        switch kind {
        case .spans: "spans"
        case .runs: "runs"
        case .waits: "waits"
        }
      let failed =
        failures == 0 ? "" : failures == 1 ? ", 1 from a failed operation" : ", \(failures) from failed operations"
      return Details(classes: classes, title: "\(count) \(noun)\(failed)\n\(time)", sign: failures > 0 ? .cross : nil)
    }
  }

  private func details(ofRun attempt: Int, of position: Int, _ time: String) -> Details {
    let operation = recording.operations[position]
    let queue = recording.queue(of: operation)
    var details = Details(
      classes: "run \(SVGStyle.queueClass(queue))", title: operation.name.shortened(to: nameLimit), name: operation.name
    )
    if SVGStyle.isDark(queue) { details.nameClass = " light" }
    if queue == nil { details.nameClass = " plain" }
    var facts: [String] = []
    if let queue { facts.append(recording.queueName(queue)) }
    if operation.runs.count > 1 { facts.append("attempt \(attempt)") }
    if attempt == operation.runs.count {
      switch operation.result {
      case .success, nil: break
      case .failure:
        details.classes += " failure"
        details.sign = .cross
        facts.append("failed" + (operation.error.map { ": \($0.shortened(to: nameLimit))" } ?? ""))
      case .cancelled:
        details.classes += " cancelled"
        details.nameClass = " plain"
        details.sign = .dash
        facts.append("cancelled")
      }
    }
    if operation.runs[attempt - 1].end == nil {
      details.sign = .chevron
      facts.append("unfinished")
    }
    details.title += "\n\(time)"
    if !facts.isEmpty { details.title += "\n\(facts.joined(separator: ", "))" }
    let blocked = blockedTime(of: operation.runs[attempt - 1])
    if blocked > 0 { details.title += "\nThe thread was blocked for \(timeText(blocked))" }
    if attempt == 1, let wait = queueWait(of: operation) { details.title += "\nWaited \(timeText(wait)) for its queue" }
    return details
  }

  /// How long the thread of a run was blocked during the run.
  private func blockedTime(of run: TraceRecording.Run) -> Int64 {
    let period = Period(from: run.start, to: run.end ?? extent)
    return period.covered(by: recording.blockedPeriods(ofThread: run.thread, extent: extent))
  }

  private func queueWait(of operation: TraceRecording.Operation) -> Int64? {
    recording.queueWait(of: operation, extent: extent)?.length
  }
}
