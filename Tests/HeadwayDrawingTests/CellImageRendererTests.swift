#if Drawing
import Headway
import HeadwayDrawing
import HeadwayTestKit
import Synchronization
import Testing

@MainActor @Suite("CellImageRenderer", .hangLimit) struct CellImageRendererTests {
  private struct Failure: Error {}

  private let queue = OperationQueue()

  /// A drawing of one pixel, whose red identifies the drawing.
  private nonisolated static func pixel(_ content: Int, _ before: @escaping @Sendable () -> Void = {})
    -> DrawingOperation
  {
    DrawingOperation(width: 1, height: 1) { context in
      before()
      context.fill(context.bounds, with: .color(Color(red: Double(content) / 255, green: 0, blue: 0)))
    }
  }

  /// Collects delivered images and wakes the test when there are enough.
  @MainActor private final class Cells {
    var shown: [(key: String, content: Int?)] = []
    var made: [Int] = []
    var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    func show(_ key: String, _ result: Result<Image, any Error>) {
      shown.append((key, (try? result.get()).map { Int(($0.color(x: 0, y: 0).red * 255).rounded()) }))
      if let waiting, shown.count >= waiting.count {
        self.waiting = nil
        waiting.continuation.resume()
      }
    }

    func wait(for count: Int) async {
      guard shown.count < count else { return }
      await withCheckedContinuation { waiting = (count, $0) }
    }

    var lines: [String] { shown.map { "\($0.key): \($0.content.map { "\($0)" } ?? "failed")" } }
  }

  private func make(
    _ cells: Cells, costLimit: Int = 1_000, _ draw: @escaping (Int) -> DrawingOperation = { pixel($0) }
  ) -> CellImageRenderer<String, Int> {
    CellImageRenderer(queue: queue, costLimit: costLimit) { content in
      cells.made.append(content)
      return draw(content)
    } onImage: { key, result in
      MainActor.preconditionIsolated()
      cells.show(key, result)
    }
  }

  @Test("R2: visible keys get their images, no matter whether they are requested or become visible first") func shown()
    async
  {
    let cells = Cells()
    let drawing = make(cells)
    #expect(drawing.image(for: "a", content: 1) == nil)
    #expect(cells.made.isEmpty)
    drawing.visibleKeys = ["a", "b"]
    drawing.image(for: "b", content: 2)
    drawing.image(for: "b", content: 2)
    #expect(cells.made == [1, 2])
    await cells.wait(for: 2)
    #expect(cells.lines.sorted() == ["a: 1", "b: 2"])
    #expect(drawing.drawingCount == 0 && drawing.cachedCost == 8)
    // It is cached, so nothing is drawn or delivered.
    #expect(drawing.image(for: "b", content: 1)?.pixelWidth == 1)
    #expect(drawing.cachedImage(of: 2) != nil && drawing.cachedImage(of: 3) == nil)
    #expect(cells.made == [1, 2])
    drawing.removeCachedImages()
    #expect(drawing.image(for: "b", content: 1) == nil)
    await cells.wait(for: 3)
    #expect(cells.made == [1, 2, 1])
  }

  @Test("R2: equal contents are drawn once, as long as at least one key with these contents is visible") func joined()
    async
  {
    let cells = Cells()
    let drawing = make(cells)
    queue.isSuspended = true
    drawing.visibleKeys = ["a", "b", "c"]
    for key in ["a", "b", "c"] { drawing.image(for: key, content: 7) }
    drawing.visibleKeys = ["b", "c"]
    drawing.image(for: "c", content: 8)
    #expect(cells.made == [7, 8] && queue.operationCount == 2)
    queue.isSuspended = false
    await cells.wait(for: 2)
    #expect(cells.lines.sorted() == ["b: 7", "c: 8"])
  }

  @Test("R2: only the newest request for a key is drawn, and drawings for hidden keys leave the queue")
  func newest() async throws {
    let cells = Cells()
    let drawing = make(cells)
    queue.isSuspended = true
    drawing.visibleKeys = ["a", "b"]
    for content in 1...5 { drawing.image(for: "a", content: content) }
    drawing.image(for: "b", content: 9)
    let waiting = queue.operations
    drawing.visibleKeys = ["a"]
    // Cancelled operations also leave a suspended queue.
    for operation in waiting where operation.isCancelled { try await operation.untilFinished() }
    #expect(queue.operationCount == 1 && drawing.drawingCount == 1)
    queue.isSuspended = false
    await cells.wait(for: 1)
    drawing.image(for: "a", content: 6)
    await cells.wait(for: 2)
    #expect(cells.lines == ["a: 5", "a: 6"])
  }

  @Test("R2: a key that is hidden during its drawing gets no image, and can request one again")
  func hiddenWhileDrawn() async throws {
    let (cells, begun, goOn) = (Cells(), Gate(), Gate())
    let drawing = make(cells) { content in
      Self.pixel(content) {
        begun.open()
        goOn.wait()
      }
    }
    drawing.visibleKeys = ["a"]
    drawing.image(for: "a", content: 1)
    await begun.untilOpen()
    drawing.visibleKeys = []
    goOn.open()
    try await queue.untilAllOperationsAreFinished()
    drawing.visibleKeys = ["a"]
    #expect(drawing.drawingCount == 0)
    drawing.image(for: "a", content: 1)
    await cells.wait(for: 1)
    #expect(cells.lines == ["a: 1"] && cells.made == [1, 1])
  }

  @Test("R2: a failed or cancelled drawing is delivered as a failure, and the next request draws again")
  func failing() async {
    let cells = Cells()
    let drawing = make(cells) { _ in DrawingOperation(width: 1, height: 1) { _ in throw Failure() } }
    drawing.visibleKeys = ["a"]
    drawing.image(for: "a", content: 1)
    await cells.wait(for: 1)
    queue.isSuspended = true
    drawing.image(for: "a", content: 1)
    queue.cancelAllOperations()
    await cells.wait(for: 2)
    #expect(cells.lines == ["a: failed", "a: failed"] && cells.made == [1, 1])
  }

  @Test("R2: the handler can use the renderer, and keys that it hides get no image") func reentrant() async {
    let cells = Cells()
    var drawing: CellImageRenderer<String, Int>?
    drawing = CellImageRenderer(queue: queue, makeDrawing: { Self.pixel($0) }) { key, result in
      // Hides the other key, whose image might exist, and requests other content.
      if cells.shown.isEmpty {
        drawing?.visibleKeys = [key]
        drawing?.image(for: key, content: 5)
      }
      cells.show(key, result)
    }
    drawing?.visibleKeys = ["a", "b"]
    for key in ["a", "b"] { drawing?.image(for: key, content: 4) }
    await cells.wait(for: 2)
    #expect(cells.shown.map(\.content) == [4, 5] && cells.shown[0].key == cells.shown[1].key)
    drawing = nil
  }

  @Test("R2: releasing the renderer cancels its drawings, and their completion blocks are called")
  func released() async throws {
    let (cells, ended) = (Cells(), Gate())
    queue.isSuspended = true
    var drawing: CellImageRenderer<String, Int>? = make(cells) { content in
      let operation = Self.pixel(content)
      operation.completionBlock = { ended.open() }
      return operation
    }
    drawing?.visibleKeys = ["a"]
    drawing?.image(for: "a", content: 1)
    let operations = queue.operations
    drawing = nil
    #expect(operations.count == 1 && operations[0].isCancelled)
    try await queue.untilAllOperationsAreFinished()
    await ended.untilOpen()
    #expect(cells.shown.isEmpty)
  }

  @Test("R2: an image that costs more than the limit is delivered but not cached") func large() async {
    let cells = Cells()
    let drawing = make(cells, costLimit: 3)
    drawing.visibleKeys = ["a"]
    drawing.image(for: "a", content: 1)
    await cells.wait(for: 1)
    #expect(cells.lines == ["a: 1"] && drawing.cachedCost == 0)
  }
}
#endif
