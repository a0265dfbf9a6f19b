/// The style sheet of a timeline in SVG.
enum SVGStyle {
  /// The colors of queues, repeated after the last one.
  ///
  /// The palette of Okabe and Ito. Readers with any color vision can distinguish them.
  static let palette = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00"]

  /// The class of the bars of a queue; nil for an operation without a queue.
  static func queueClass(_ queue: Int?) -> String { queue.map { "q\($0 % palette.count)" } ?? "none" }

  static let sheet: String = {
    let colors = palette.enumerated().map { ".q\($0.offset){fill:\($0.element)}" }.joined()
    return """
      :root{--back:#fff;--text:#1d1d1f;--dim:#6e6e73;--line:#e2e2e7;--band:#f6f6f8;--edge:#1d1d1f;--bad:#b3001b;\
      --many:#8e8e93;--none:#b8b8be}
      @media (prefers-color-scheme:dark){:root{--back:#1c1c1e;--text:#f5f5f7;--dim:#a1a1a6;--line:#3a3a3c;\
      --band:#242426;--edge:#f5f5f7;--bad:#ff6b6b;--many:#8e8e93;--none:#6e6e73}}
      .back{fill:var(--back)}.band{fill:var(--band)}.grid{stroke:var(--line);fill:none}
      text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--text)}
      .dim{fill:var(--dim)}.title{font-size:13px;font-weight:600}.tick{text-anchor:middle}
      \(colors).none{fill:var(--none)}.many{fill:var(--many)}
      .run{stroke:var(--back);stroke-width:.5}.wait{opacity:.45}
      .span{fill:none;stroke:var(--edge);stroke-width:1}
      .failure{stroke:var(--bad);stroke-width:1.5}
      .cancelled{fill-opacity:.35;stroke:var(--edge);stroke-width:1;stroke-dasharray:3 2}
      .cross,.dash{stroke:#fff;stroke-width:2;fill:none;pointer-events:none}
      .badge{fill:#48484a;stroke:#fff;stroke-width:.5;pointer-events:none}.badge.bad{fill:#b3001b}
      .blocked{fill:url(#stripes);pointer-events:none}.stripe{stroke:var(--edge);stroke-width:2;opacity:.75}
      .open{stroke:var(--edge);stroke-width:1.5;fill:none;pointer-events:none}
      .name{fill:#111;pointer-events:none}.name.light{fill:#fff}.name.plain{fill:var(--text)}
      .mark{stroke:var(--edge);stroke-width:1;stroke-dasharray:1 2}
      .arrow{fill:none;stroke:var(--dim);stroke-width:1;opacity:.6}.head{fill:var(--dim)}
      """
  }()

  /// Whether a name on the color of a queue is white.
  static func isDark(_ queue: Int?) -> Bool { queue.map { palette[$0 % palette.count] == "#0072b2" } ?? false }
}
