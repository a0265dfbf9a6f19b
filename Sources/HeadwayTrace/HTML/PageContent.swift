import Foundation
import Headway

/// The data of a page, for its script.
struct PageContent: Encodable {
  /// A row: each bar is the position of its operation or span, the number of the attempt, the start, and the end.
  struct Row: Encodable {
    let kind: String
    let thread: Int
    let overlaps: Bool
    let bars: [[Int64]]
  }

  let recording: TraceRecording
  let summary: String
  /// The last time, at least 1.
  let extent: Int64
  let rows: [Row]
  /// The names of the threads of the rows, by their positions.
  let threads: [String: String]
  /// The colors of queues, repeated after the last one.
  let colors: [String]
  /// The positions of the operations of the critical path, and the path in words.
  let path: [Int]
  let pathText: String?

  init(_ recording: TraceRecording) {
    self.recording = recording
    let extent = max(1, recording.extent)
    let rows = recording.timelineRows(extent: extent)
    let criticalPath = recording.criticalPath()
    summary = recording.summary
    self.extent = extent
    self.rows = rows.map(Self.row)
    threads = Dictionary(
      rows.map { ("\($0.thread)", recording.threadName($0.thread).onOneLine) }, uniquingKeysWith: { first, _ in first })
    colors = SVGStyle.palette
    path = criticalPath?.steps.map(\.operation) ?? []
    pathText = criticalPath?.description
  }

  private static func row(_ row: TimelineRow) -> Row {
    let kind =
      switch row.kind {
      case .spans: "spans"
      case .runs: "runs"
      case .waits: "waits"
      }
    let bars = row.bars.map { bar -> [Int64] in
      let (position, attempt) =
        switch bar.content {
        case .run(let operation, let attempt): (operation, attempt)
        case .wait(let operation): (operation, 1)
        case .span(let span): (span, 1)
        case .many: misuse("Only a picture has merged bars.")
        }
      return [Int64(position), Int64(attempt), bar.period.start, bar.period.end]
    }
    return Row(kind: kind, thread: row.thread, overlaps: row.overlaps, bars: bars)
  }

  /// The data as JSON that is safe inside a script element.
  ///
  /// The characters that could end the element, begin a comment, or end a line in old versions of JavaScript occur only
  /// in strings, so they are escaped as such.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data: Data
    do { data = try encoder.encode(self) } catch {
      // The structures contain only strings, integers, and Boolean values.
      misuse("A recording cannot be encoded: \(error)")
    }
    var escaped = ""
    for scalar in String(decoding: data, as: UTF8.self).unicodeScalars {
      switch scalar {
      case "<": escaped += "\\u003c"
      case ">": escaped += "\\u003e"
      case "&": escaped += "\\u0026"
      case "\u{2028}": escaped += "\\u2028"
      case "\u{2029}": escaped += "\\u2029"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  static let body = String(decoding: PackageResources.body_html, as: UTF8.self)
  static let style = String(decoding: PackageResources.style_css, as: UTF8.self)
  static let script = [
    PackageResources.data_js, PackageResources.drawing_js, PackageResources.lines_js, PackageResources.control_js,
    PackageResources.page_js,
  ].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
}
