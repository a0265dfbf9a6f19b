#if Drawing
import Headway
import HeadwayDrawing
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@MainActor @Suite("Scrolling storm", .hangLimit) struct ScrollingStormTests {
  /// The content of a drawing: a row, and how often its content has changed.
  private struct Content: Hashable, Sendable {
    let row: Int
    let version: Int
  }

  /// Contents that are hidden and must not be drawn.
  private final class Hidden: Sendable {
    let contents = Mutex<Set<Content>>([])
    let violations = Atomic<Int>(0)
    let commands = Atomic<Int>(0)

    /// Called before each command.
    func check(_ content: Content, _ context: DrawingContext) {
      // Contents that were hidden before this is called have already been cancelled.
      let isHidden = contents.withLock { $0.contains(content) }
      if isHidden, !context.isCancelled { violations.add(1, ordering: .relaxed) }
      commands.add(1, ordering: .relaxed)
    }
  }

  @Test("R2: only visible keys are drawn during 100,000 changes, and the last visible keys get images")
  func storm() async throws {
    let (rows, window, side) = (10_000, 20, 8.0)
    let costLimit = 100 * 8 * 8 * 4
    let queue = OperationQueue(name: "storm", maxConcurrentOperationCount: 4)
    let hidden = Hidden()
    var shown: [Int: Content] = [:]
    var wanted: [Int: Content] = [:]
    var allShown: CheckedContinuation<Void, Never>?
    let cells = CellImageRenderer<Int, Content>(queue: queue, costLimit: costLimit) { content in
      DrawingOperation(width: side, height: side) { context in
        for line in 0..<4 {
          hidden.check(content, context)
          context.fill(
            Rectangle(0, Double(line) * 2, side, 2), with: .color(Color(white: Double(content.row % 256) / 255)))
        }
      }
    } onImage: { row, result in
      // The newest request of a visible row.
      #expect(wanted[row] != nil)
      if (try? result.get()) != nil { shown[row] = wanted[row] }
      if allShown != nil, shown == wanted {
        allShown?.resume()
        allShown = nil
      }
    }
    var generator = SeededGenerator(seed: 3)
    var (top, visible) = (0, Set<Int>())
    for step in 0..<100_000 {
      // Usually a row or two; occasionally a jump.
      let move =
        step % 97 == 0 ? Int.random(in: -rows...rows, using: &generator) : Int.random(in: -2...3, using: &generator)
      top = max(0, min(rows - window, top + move))
      let next = Set(top..<top + window)
      let (gone, come) = (visible.subtracting(next), next.subtracting(visible))
      cells.visibleKeys = next
      let left = gone.compactMap { wanted.removeValue(forKey: $0) }
      hidden.contents.withLock { $0.formUnion(left) }
      for row in gone { shown[row] = nil }
      for row in come.sorted() + [top] {
        let content = Content(row: row, version: row == top ? step / 500 : 0)
        _ = hidden.contents.withLock { $0.remove(content) }
        let old = wanted[row]
        let isNew = old != content
        wanted[row] = content
        if let image = cells.image(for: row, content: content) {
          #expect(image.pixelWidth == 8)
          shown[row] = content
        } else if isNew {
          shown[row] = nil
        }
        if isNew, let old { _ = hidden.contents.withLock { $0.insert(old) } }
      }
      visible = next
      // The main queue is served only while the test awaits.
      if step % 200 == 0 {
        Watchdog.shared.note("storm", "\(step)")
        await Task.yield()
        #expect(cells.cachedCost <= costLimit)
      }
    }
    if shown != wanted { await withCheckedContinuation { allShown = $0 } }
    try await queue.untilAllOperationsAreFinished()
    #expect(shown == wanted && wanted.count == window)
    #expect(hidden.violations.load(ordering: .relaxed) == 0)
    #expect(hidden.commands.load(ordering: .relaxed) > 1_000)
    #expect(cells.drawingCount == 0 && cells.cachedCost <= costLimit)
  }
}
#endif
