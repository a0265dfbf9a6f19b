/// An entry of the legend with its place.
struct PlacedLegendItem {
  let item: SVGLegend.Item
  let x: Double
  let y: Double
}

/// The entries of the legend: the queues, and the kinds of marks that the recording contains.
struct SVGLegend {
  enum Item {
    case color(name: String, classes: String)
    case wait, span, failure, cancelled, unfinished, blocked, many, mark, arrow

    var text: String {
      switch self {
      case .color(let name, _): name
      case .wait: "ready, waits for its queue"
      case .span: "span"
      case .failure: "failed"
      case .cancelled: "cancelled"
      case .unfinished: "unfinished"
      case .blocked: "thread blocked"
      case .many: "many, too narrow or overlapping"
      case .mark: "mark"
      case .arrow: "dependency"
      }
    }
  }

  /// How many queues are listed.
  private static let queueLimit = 14

  private(set) var items: [Item] = []

  /// Chooses the entries.
  ///
  /// - Parameters:
  ///   - recording: The recording that the timeline shows.
  ///   - rows: The rows with the bars that are drawn.
  ///   - showsDependencies: Whether arrows are drawn.
  init(_ recording: TraceRecording, rows: [TimelineRow], showsDependencies: Bool) {
    for queue in recording.queues.indices.prefix(Self.queueLimit) {
      var name = recording.queueName(queue).onOneLine.shortened(to: 30)
      if let limit = recording.queues[queue].maxConcurrentOperationCount { name += " (\(limit))" }
      items.append(.color(name: name, classes: "run \(SVGStyle.queueClass(queue))"))
    }
    let others = recording.queues.count - Self.queueLimit
    if others > 0 {
      items.append(.color(name: "and \(counted(others, "more queue"))", classes: "run none"))
    }
    if recording.operations.contains(where: { recording.queue(of: $0) == nil }) {
      items.append(.color(name: "no queue", classes: "run none"))
    }
    if rows.contains(where: { $0.kind == .waits }) { items.append(.wait) }
    if rows.contains(where: { $0.kind == .spans }) { items.append(.span) }
    if recording.operations.contains(where: { $0.result == .failure }) { items.append(.failure) }
    if recording.operations.contains(where: { $0.result == .cancelled }) { items.append(.cancelled) }
    if recording.operations.contains(where: { $0.runs.contains { $0.end == nil } }) { items.append(.unfinished) }
    if recording.threads.contains(where: { !$0.blockedIntervals.isEmpty }) { items.append(.blocked) }
    if rows.contains(where: { $0.bars.contains { $0.count > 1 } }) { items.append(.many) }
    if !recording.marks.isEmpty { items.append(.mark) }
    if showsDependencies { items.append(.arrow) }
  }

  /// The entries in lines of a width.
  func placed(width: Double) -> [PlacedLegendItem] {
    var (x, y) = (12.0, 40.0)
    return items.map { item in
      let itemWidth = 24 + textWidth(item.text) + 12
      if x > 12, x + itemWidth > width - 12 { (x, y) = (12, y + 18) }
      defer { x += itemWidth }
      return PlacedLegendItem(item: item, x: x, y: y)
    }
  }
}

extension SVGTimeline {
  /// The legend.
  var legendElements: String {
    legend.map { placed in
      let (x, y) = (decimalText(placed.x), decimalText(placed.y))
      return """
        <g transform="translate(\(x) \(y))">\(sample(placed.item))\
        <text x="22" y="4">\(placed.item.text.escapedForXML)</text></g>
        """
    }.joined(separator: "\n")
  }

  private func sample(_ item: SVGLegend.Item) -> String {
    let box = "x=\"0\" y=\"-6\" width=\"16\" height=\"12\""
    return switch item {
    case .color(_, let classes): "<rect class=\"\(classes)\" \(box)/>"
    case .wait: "<rect class=\"wait none\" x=\"0\" y=\"-2\" width=\"16\" height=\"4\"/>"
    case .span: "<rect class=\"span\" \(box)/>"
    case .failure:
      """
      <rect class="run none failure" \(box)/><circle class="badge bad" cx="8" cy="0" r="5"/>\
      <path class="cross" d="M5.5 -2.5l5 5m0 -5l-5 5"/>
      """
    case .cancelled:
      """
      <rect class="run none cancelled" \(box)/><circle class="badge" cx="8" cy="0" r="5"/>\
      <path class="dash" d="M5 0h6"/>
      """
    case .unfinished: "<rect class=\"run none\" \(box)/><path class=\"open\" d=\"M8 -4l4 4l-4 4\"/>"
    case .blocked:
      "<rect class=\"run none\" \(box)/><rect class=\"blocked\" x=\"0\" y=\"2\" width=\"16\" height=\"4\"/>"
    case .many: "<rect class=\"run many\" \(box)/>"
    case .mark: "<path class=\"mark\" d=\"M8 -7v14\"/>"
    case .arrow: "<path class=\"arrow\" marker-end=\"url(#head)\" d=\"M0 4C8 4 8 -2 16 -2\"/>"
    }
  }
}
