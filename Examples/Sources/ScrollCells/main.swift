// Draws the cells of a list while the user scrolls. Rows that have scrolled away are no longer drawn, and rows with the
// same content share one drawing.

import Headway
import HeadwayDrawing

/// The content of a row.
///
/// Rows with the same color have the same content.
struct Badge: Hashable, Sendable {
  let color: UInt32
}

@MainActor func scroll() async throws {
  let queue = OperationQueue(name: "badges")
  var shown: [Int: Image] = [:]
  let cells = CellImageRenderer<Int, Badge>(queue: queue, costLimit: 1_000_000) { badge in
    DrawingOperation(width: 20, height: 20, scale: 2) { context in
      context.fill(Path(ellipseIn: context.bounds), with: .color(Color(rgb: badge.color)))
    }
  } onImage: { row, result in
    shown[row] = try? result.get()
  }
  func badge(_ row: Int) -> Badge { Badge(color: row % 3 == 0 ? 0xE4572E : 0x3A6EA5) }
  func show(_ rows: Range<Int>) {
    cells.visibleKeys = Set(rows)
    for row in rows where shown[row] == nil {
      if let image = cells.image(for: row, content: badge(row)) { shown[row] = image }
    }
  }

  // The user scrolls before anything is drawn: no drawing has begun, and the waiting ones leave the queue.
  queue.isSuspended = true
  for top in 0..<50 { show(top..<top + 8) }
  print("rows that were seen: 57; drawings that wait: \(cells.drawingCount)")
  queue.isSuspended = false
  // The images are delivered on the main thread while this code waits.
  while shown.count < 8 { try await Task.sleep(for: .milliseconds(1)) }
  print("rows with an image:", shown.keys.sorted())
  print("bytes kept for later: \(cells.cachedCost)")
  show(60..<64)
  print("rows that needed no drawing any more: \((60..<64).count { shown[$0] != nil })")
}

try await scroll()
