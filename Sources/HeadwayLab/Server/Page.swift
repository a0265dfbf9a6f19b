#if Lab
/// A file of the pages, which is embedded in the program.
struct Page: Sendable {
  let path: String
  let type: String
  let bytes: [UInt8]

  private static let html = "text/html; charset=utf-8"
  private static let css = "text/css; charset=utf-8"
  private static let script = "text/javascript; charset=utf-8"
  private static let picture = "image/svg+xml"

  /// All files.
  static let all = [
    Page(path: "/", type: html, bytes: PackageResources.index_html),
    Page(path: "/style.css", type: css, bytes: PackageResources.style_css),
    Page(path: "/icon.svg", type: picture, bytes: PackageResources.icon_svg),
    Page(path: "/lab.js", type: script, bytes: PackageResources.lab_js),
    Page(path: "/connection.js", type: script, bytes: PackageResources.connection_js),
    Page(path: "/elements.js", type: script, bytes: PackageResources.elements_js),
    Page(path: "/state.js", type: script, bytes: PackageResources.state_js),
    Page(path: "/techniques.js", type: script, bytes: PackageResources.techniques_js),
    Page(path: "/control.js", type: script, bytes: PackageResources.control_js),
    Page(path: "/heartbeat.js", type: script, bytes: PackageResources.heartbeat_js),
    Page(path: "/timeline.js", type: script, bytes: PackageResources.timeline_js),
    Page(path: "/graph.js", type: script, bytes: PackageResources.graph_js),
    Page(path: "/comparison.js", type: script, bytes: PackageResources.comparison_js),
    Page(path: "/touch.js", type: script, bytes: PackageResources.touch_js),
    Page(path: "/race.js", type: script, bytes: PackageResources.race_js),
    Page(path: "/lanes.js", type: script, bytes: PackageResources.lanes_js),
    Page(path: "/arrows.js", type: script, bytes: PackageResources.arrows_js),
    Page(path: "/sleepers.js", type: script, bytes: PackageResources.sleepers_js),
    Page(path: "/board.js", type: script, bytes: PackageResources.board_js),
    Page(path: "/import.js", type: script, bytes: PackageResources.import_js),
    Page(path: "/lines.js", type: script, bytes: PackageResources.lines_js),
    Page(path: "/requests.js", type: script, bytes: PackageResources.requests_js),
    Page(path: "/drawing.js", type: script, bytes: PackageResources.drawing_js),
  ]
}
#endif
