#if Drawing
import Dispatch
import Headway
import HeadwayTestKit
import Synchronization
import Testing

@testable import HeadwayDrawing

@Suite("DrawingOperation", .hangLimit) struct DrawingOperationTests {
  private struct Failure: Error {}

  private let queue = OperationQueue()

  @Test("R1: an image is drawn in the background and delivered on the main thread")
  func handsOver() async throws {
    let received = EventRecorder<Image>()
    let drawing = DrawingOperation(width: 10, height: 5, scale: 2) { context in
      dispatchPrecondition(condition: .notOnQueue(.main))
      context.fill(context.bounds, with: .color(.red))
    }
    let done = Gate()
    drawing.onImage { [unowned drawing] image in
      MainActor.preconditionIsolated()
      #expect(drawing.isFinished)
      received.record(image)
    }
    drawing.onImage { _ in done.open() }
    queue.addOperation(drawing)
    await done.untilOpen()
    let image = try #require(received.events.first)
    #expect(received.count == 1)
    #expect((image.pixelWidth, image.pixelHeight) == (20, 10))
    #expect(image.size == Size(10, 5) && image.scale == 2 && image.byteCount == 800)
    expect(image, at: 19, 9, .red)
    let late = Gate()
    drawing.onImage { _ in late.open() }
    await late.untilOpen()
  }

  @Test("R1: a task can await the image, and a dependent operation can read it") func value() async throws {
    let drawing = DrawingOperation(width: 4, height: 4) { $0.fill($0.bounds, with: .color(.blue)) }
    let reader = BlockOperation { #expect(drawing.image?.color(x: 0, y: 0) == .blue) }
    reader.addDependency(drawing)
    #expect(drawing.image == nil)
    queue.addOperations([drawing, reader], waitUntilFinished: false)
    expect(try await drawing.value, at: 3, 3, .blue)
    try await reader.untilFinished()
  }

  @Test("R1, W3, Q6: an asynchronous wait returns after the image handlers", arguments: [false, true])
  func completeWait(waitsForQueue: Bool) async throws {
    for _ in 0..<50 {
      let (queue, received) = (OperationQueue(), EventRecorder<Int>())
      let drawing = DrawingOperation(width: 4, height: 4) { _ in }
      drawing.onImage { _ in received.record(1) }
      drawing.onImage { _ in received.record(2) }
      queue.addOperation(drawing)
      if waitsForQueue { try await queue.untilAllOperationsAreFinished() } else { _ = try await drawing.value }
      #expect(received.events == [1, 2])
    }
  }

  @Test("R1, O8: the drawing code is released after the operation has finished, and can wait for the queue")
  func releasesAfterEnd() async {
    final class Captured: Sendable {
      let block: @Sendable () -> Void
      init(_ block: @escaping @Sendable () -> Void) { self.block = block }
      deinit { block() }
    }
    let (queue, done) = (OperationQueue(maxConcurrentOperationCount: 1), Gate())
    var captured: Captured? = Captured {
      queue.waitUntilAllOperationsAreFinished()
      done.open()
    }
    queue.addOperation(DrawingOperation(width: 4, height: 4) { [captured] _ in _ = captured })
    captured = nil
    await done.untilOpen()
  }

  @Test("R1: an error that the drawing code throws is the operation's error, and no image is delivered") func failure()
    async throws
  {
    let drawing = DrawingOperation(width: 4, height: 4) { _ in throw Failure() }
    drawing.onImage { _ in Issue.record("an image of a drawing that failed") }
    queue.addOperation(drawing)
    await #expect(throws: Failure.self) { try await drawing.value }
    #expect(drawing.image == nil && drawing.error is Failure)
    var token: BlockOperation? = BlockOperation {}
    weak let watch = token
    drawing.onImage { [token] _ in _ = token }
    token = nil
    #expect(watch == nil)
    await mainQueueIsIdle()
  }

  @Test("R1: a drawing that is cancelled before it begins never draws, and releases its closures")
  func cancelledBefore() async throws {
    final class Token: Sendable {}
    for inQueue in [false, true] {
      var token: Token? = Token()
      weak var watch = token
      let drawing = DrawingOperation(width: 4, height: 4) { [token] _ in
        _ = token
        Issue.record("drawn")
      }
      drawing.onImage { [token] _ in _ = token }
      token = nil
      #expect(watch != nil)
      queue.isSuspended = true
      if inQueue { queue.addOperation(drawing) }
      drawing.cancel()
      drawing.cancel()
      #expect(watch == nil)
      // This includes a handler that is added after the cancellation.
      token = Token()
      watch = token
      drawing.onImage { [token] _ in _ = token }
      token = nil
      #expect(watch == nil)
      queue.isSuspended = false
      await #expect(throws: CancellationError.self) { try await drawing.value }
      #expect(drawing.image == nil)
    }
  }

  @Test(
    "R1: a drawing that is cancelled while it draws has no image, whether it throws or returns",
    arguments: [false, true])
  func cancelledDuring(throwing: Bool) async throws {
    let (begun, goOn) = (Gate(), Gate())
    let drawing = DrawingOperation(width: 4, height: 4) { context in
      #expect(!context.isCancelled)
      begun.open()
      goOn.wait()
      #expect(context.isCancelled)
      if throwing { return try context.checkCancellation() }
      context.fill(context.bounds, with: .color(.red))
    }
    drawing.onImage { _ in Issue.record("an image of a drawing that was cancelled") }
    queue.addOperation(drawing)
    await begun.untilOpen()
    drawing.cancel()
    goOn.open()
    try await drawing.untilFinished()
    #expect(drawing.isCancelled && drawing.isFinished && drawing.error == nil)
    #expect(drawing.image == nil)
    await mainQueueIsIdle()
  }

  @Test("R1: a drawing can cancel itself while it draws, but not after it has finished")
  func cancelledAtTheEnd() async throws {
    let itself = Mutex<DrawingOperation?>(nil)
    let drawing = DrawingOperation(width: 4, height: 4) { _ in itself.withLock { $0 }?.cancel() }
    itself.withLock { $0 = drawing }
    drawing.onImage { _ in Issue.record("an image of a drawing that was cancelled") }
    queue.addOperation(drawing)
    try await drawing.untilFinished()
    #expect(drawing.image == nil)
    itself.withLock { $0 = nil }

    let finished = DrawingOperation(width: 4, height: 4) { _ in }
    queue.addOperation(finished)
    _ = try await finished.value
    finished.cancel()
    #expect(finished.image != nil && !finished.isCancelled)
    await mainQueueIsIdle()
  }

  @Test("R1: commands have no effect after the drawing is cancelled") func commandsDoNothing() throws {
    // Each command checks once whether the drawing is cancelled.
    for allowed in 0...4 {
      var asked = 0
      let size = PixelSize(width: 40, height: 10, scale: 1)
      let image = try Image(
        size,
        isCancelled: {
          asked += 1
          return asked > allowed
        },
        draw: { context in
          for column in 0..<4 {
            context.fill(Rectangle(Double(column) * 10, 0, 10, 10), with: .color(.red))
          }
          context.withSavedState { context.withLayer { context.fill(context.bounds, with: .color(.blue)) } }
        })
      for column in 0..<4 { expect(image, at: column * 10 + 5, 5, column < allowed ? .red : .clear) }
    }
  }

  @Test("R1: text can be measured even after the drawing is cancelled")
  func measuring() throws {
    let size = PixelSize(width: 40, height: 10, scale: 1)
    _ = try Image(size, isCancelled: { true }) { context in
      #expect(context.measure(Text("wide", font: Font(size: 20))).width > 20)
    }
  }

  @Test(
    "R1: numbers that can't be used for drawing cause a typed error",
    arguments: [Double.nan, .infinity, -.infinity])
  func numbers(_ number: Double) {
    let commands: [(DrawingContext) -> Void] = [
      { $0.fill(Path(lineFrom: Point(number, 0), to: .zero), with: .color(.red)) },
      { $0.stroke(Path($0.bounds), with: .color(.red), width: number) },
      { $0.clip(to: Path { $0.addArc(center: .zero, radius: 1, from: 0, to: number) }) },
      { $0.translate(x: number, y: 0) }, { $0.rotate(byRadians: number) }, { $0.scale(x: 1, y: number) },
      { $0.draw(Text("a", font: Font(size: number)), at: .zero) },
      { $0.concatenate(Transform(a: 1, b: 0, c: 0, d: 1, x0: number, y0: 0)) },
      { context in context.fill(Path { $0.addPath(Path(ellipseIn: Rectangle(0, 0, number, 1))) }, with: .color(.red))
      },
      { $0.fill($0.bounds, with: .linearGradient(Gradient([.red, .blue]), from: Point(number, 0), to: .zero)) },
      { $0.fill($0.bounds, with: .radialGradient(Gradient([.red]), center: .zero, endRadius: number)) },
      { context in
        guard let tile = try? cornered(2, 2) else { return }
        context.fill(context.bounds, with: .tiles(of: tile, origin: Point(0, number)))
      },
    ]
    for command in commands {
      let error = #expect(throws: DrawingError.self) { try Image(width: 4, height: 4, draw: command) }
      #expect(error?.code == .invalidGeometry)
    }
  }

  @Test("R1: a NaN in a color, a gradient or a radius causes a typed error; infinite colors are clamped")
  func notANumber() throws {
    let bad = Color(red: 0, green: .nan, blue: 0)
    let commands: [(DrawingContext) -> Void] = [
      { $0.fill($0.bounds, with: .color(bad)) },
      { $0.stroke(Path($0.bounds), with: .color(Color.red.opacity(.nan))) },
      { $0.fill($0.bounds, with: .linearGradient(Gradient([.red, bad]), from: .zero, to: Point(4, 0))) },
      { context in
        let gradient = Gradient(stops: [.init(.red, at: .nan), .init(.blue, at: 1)])
        context.fill(context.bounds, with: .radialGradient(gradient, center: .zero, endRadius: 4))
      },
      { $0.draw(Text("a", font: Font(size: 4), color: bad), at: .zero) },
      { $0.withLayer(opacity: .nan) {} },
      { $0.fill(Path($0.bounds, cornerRadius: .nan), with: .color(.red)) },
    ]
    for command in commands {
      let error = #expect(throws: DrawingError.self) { try Image(width: 4, height: 4, draw: command) }
      #expect(error?.code == .invalidGeometry)
    }
    let bright = Color(red: .infinity, green: -.infinity, blue: -1, opacity: 7)
    expect(try Image(width: 4, height: 4) { $0.fill($0.bounds, with: .color(bright)) }, at: 1, 1, .red)
  }

  @Test("R1: singular transformations and invalid dashes cause typed errors") func singular() {
    for command: (DrawingContext) -> Void in [
      { $0.scale(x: 0, y: 1) },
      { $0.stroke(Path($0.bounds), with: .color(.red), style: StrokeStyle(dashes: [0, 0])) },
      { $0.stroke(Path($0.bounds), with: .color(.red), style: StrokeStyle(dashes: [-1, 2])) },
    ] {
      let error = #expect(throws: DrawingError.self) { try Image(width: 4, height: 4, draw: command) }
      #expect(error?.code == .invalidGeometry)
    }
  }

  @Test("R1: text that is too large causes a typed error, and the font can still be used") func hugeText() throws {
    for command: (DrawingContext) -> Void in [
      { $0.draw(Text("a", font: Font(size: 1e7)), at: .zero) },
      { _ = $0.measure(Text("a", font: Font(size: 70_000))) },
      { context in
        context.scale(x: 1, y: 74)
        context.draw(Text("a", font: Font(size: 12)), at: .zero)
      },
    ] {
      let error = #expect(throws: DrawingError.self) { try Image(width: 4, height: 4, draw: command) }
      #expect(error?.code == .invalidGeometry)
    }
    let image = try Image(width: 20, height: 20, scale: 50) { context in
      context.draw(Text("\u{2588}", font: Font("DejaVu Sans Mono, Monospace", size: 20)), at: .zero)
    }
    #expect(!image.isOpaque && image.color(x: 200, y: 500).opacity > 0)
  }

  @Test("R1: an arc of any number of turns is drawn in constant time") func turns() throws {
    for (turns, isFilled) in [(1.0, true), (1e9, false), (1e9 + 1, true)] {
      for isCounterclockwise in [false, true] {
        let end = (isCounterclockwise ? -2 : 2) * Double.pi * turns
        let circle = Path {
          $0.addArc(
            center: Point(10, 10), radius: 8, from: 0, to: end, isCounterclockwise: isCounterclockwise)
        }
        let image = try Image(width: 20, height: 20) { $0.fill(circle, with: .color(.red), rule: .evenOdd) }
        expect(image, at: 12, 13, isFilled ? .red : .clear)
        expect(try Image(width: 20, height: 20) { $0.fill(circle, with: .color(.red)) }, at: 12, 13, .red)
      }
    }
  }

  @Test("R1: a context that is used after its drawing stops the program") func usedAfterTheEnd() async {
    await #expect(processExitsWith: .failure) {
      var kept: DrawingContext?
      _ = try Image(width: 4, height: 4) { kept = $0 }
      kept?.fill(Rectangle(0, 0, 1, 1), with: .color(.red))
    }
  }

  @Test(
    "R1: an image without pixels, or with too many, stops the program", arguments: ["0", "-1", "32768", "nan", "inf"])
  func sizes(_ text: String) async {
    await #expect(processExitsWith: .failure) { [text] in
      _ = DrawingOperation(width: Double(text) ?? 1, height: 1) { _ in }
    }
    await #expect(processExitsWith: .failure) {
      _ = DrawingOperation(width: 1e-200, height: 1, scale: 1e-200) { _ in }
    }
  }

  @Test("R1: many concurrent drawings can share an image and draw text")
  func many() async throws {
    let stamp = try cornered(8, 8)
    let drawings = (0..<200).map { number in
      DrawingOperation(width: 32, height: 16) { context in
        context.draw(stamp, at: .zero)
        context.fill(Path(Rectangle(8, 8, 8, 8)), with: .tiles(of: stamp))
        context.draw(Text("\(number)", font: Font(size: 8)), at: Point(16, 0))
      }
    }
    queue.addOperations(drawings, waitUntilFinished: false)
    for drawing in drawings { expect(try await drawing.value, at: 0, 0, .red) }
  }

  /// Returns when all work that was added to the main queue before has run.
  private func mainQueueIsIdle() async {
    let last = BlockOperation {}
    OperationQueue.main.addOperation(last)
    try? await last.untilFinished()
  }
}
#endif
