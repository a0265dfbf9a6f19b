#if Lab
import Foundation
import Headway
import HeadwayDrawing
import Hummingbird
import NIOCore
import Synchronization

/// Draws the cells of a list of thousands while the user scrolls.
///
/// The drawings of cells that have left the screen are cancelled.
final class DrawingWorkshop: Sendable {
  struct Event: Encodable {
    var type = "drawing"
    var drawn = 0
    var cancelled = 0
    var fromCache = 0
    /// The visible rows that have an image.
    var ready: [Int] = []
  }

  private struct VisibleRequest: Decodable {
    var viewer: String
    var first: Int
    var count: Int
  }

  /// The rows that a browser shows.
  private struct View {
    let viewer: String
    let rows: Range<Int>
  }

  private struct State {
    var event = Event()
    var images: [Int: [UInt8]] = [:]
    /// The views, with the most recently changed one last.
    var views: [View] = []
    var isPublishing = false

    var visible: Set<Int> { Set(views.lazy.flatMap(\.rows)) }
  }

  /// The number of browsers that are remembered, because a browser does not report that it has left.
  private static let viewLimit = 8

  static let rowCount = 5_000
  /// Rows that are this far apart show the same content.
  static let contentCount = 400

  private let journal: Journal
  private let queue = Headway.OperationQueue(
    name: "cells", maxConcurrentOperationCount: 2, qualityOfService: .userInitiated)
  // Protected by its lock.
  private let state = Mutex(State())
  private let cells = Mutex<Cells?>(nil)

  init(_ journal: Journal) { self.journal = journal }

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.post("api/drawing/visible") { [self] request, context in
      let visible = try await request.decode(as: VisibleRequest.self, context: context)
      guard 0..<Self.rowCount ~= visible.first, 0...60 ~= visible.count, visible.viewer.utf8.count <= 40 else {
        throw HTTPError(.unprocessableContent)
      }
      let rows = visible.first..<min(Self.rowCount, visible.first + visible.count)
      await show(View(viewer: visible.viewer, rows: rows))
      return HTTPResponse.Status.accepted
    }
    router.get("drawing/:content") { [self] _, context in
      guard let content = context.parameters.get("content", as: Int.self),
        let image = state.withLock({ $0.images[content] })
      else { throw HTTPError(.notFound) }
      return Response(
        status: .ok, headers: [.contentType: "image/png", .cacheControl: "max-age=60"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: image)))
    }
  }

  /// Requests the rows that are currently visible in any browser, and forgets all other rows.
  @MainActor private func show(_ view: View) {
    let cells =
      cells.withLock { $0 }
      ?? Cells(queue: queue) { [weak self] content, image in
        self?.keep(image, of: content)
      } ended: { [weak self] isCancelled in
        self?.noteEnd(isCancelled: isCancelled)
      }
    self.cells.withLock { $0 = cells }
    let rows = state.withLock { state in
      state.views.removeAll { $0.viewer == view.viewer }
      state.views = state.views.suffix(Self.viewLimit - 1) + [view]
      return state.visible
    }
    let cachedCount = cells.show(rows)
    state.withLock { $0.event.fromCache += cachedCount }
    publishSoon()
  }

  /// Encodes the image of a content, unless that has been done before.
  private func keep(_ image: Image, of content: Int) {
    guard state.withLock({ $0.images[content] == nil }) else { return }
    queue.addOperation { [self] in
      guard let bytes = try? image.pngBytes() else { return }
      state.withLock { $0.images[content] = bytes }
      publishSoon()
    }
  }

  /// Records that a drawing has ended.
  private func noteEnd(isCancelled: Bool) {
    state.withLock { state in
      if isCancelled { state.event.cancelled += 1 } else { state.event.drawn += 1 }
    }
    publishSoon()
  }

  /// Notifies viewers, at most ten times per second.
  private func publishSoon() {
    let isFirst = state.withLock { state in
      defer { state.isPublishing = true }
      return !state.isPublishing
    }
    guard isFirst else { return }
    Task(executorPreference: queue) { [self] in
      try? await Task.sleep(for: .milliseconds(100))
      let event = state.withLock { state in
        state.isPublishing = false
        state.event.ready = state.visible.filter { state.images[$0 % Self.contentCount] != nil }.sorted()
        return state.event
      }
      journal.append(event, key: "drawing")
    }
  }
}

/// The list of cells, on the main thread as in an app.
@MainActor private final class Cells: Sendable {
  private let drawing: CellImageRenderer<Int, Int>
  private var asked: Set<Int> = []

  /// Creates the list.
  ///
  /// - Parameters:
  ///   - queue: The queue that draws the cells.
  ///   - onImage: Called with a content and its image.
  ///   - ended: Called when a drawing has ended, with whether it was cancelled.
  init(
    queue: Headway.OperationQueue, onImage: @escaping (Int, Image) -> Void,
    ended: @escaping @Sendable (Bool) -> Void
  ) {
    drawing = CellImageRenderer<Int, Int>(queue: queue) { content in
      let operation = Photo.isShown(by: content) ? Photo.drawing(of: content) : Tile.drawing(of: content)
      operation.completionBlock = { [weak operation] in ended(operation?.isCancelled ?? true) }
      return operation
    } onImage: { row, result in
      guard let image = try? result.get() else { return }
      onImage(row % DrawingWorkshop.contentCount, image)
    }
  }

  /// Requests rows.
  ///
  /// - Returns: The number of rows that became visible and already had an image.
  func show(_ rows: Set<Int>) -> Int {
    drawing.visibleKeys = rows
    var count = 0
    for row in rows {
      let isThere = drawing.image(for: row, content: row % DrawingWorkshop.contentCount) != nil
      if isThere, !asked.contains(row) { count += 1 }
    }
    asked = rows
    return count
  }
}

/// The drawing of a cell, which is expensive enough that scrolling is faster.
enum Tile {
  /// Returns a color at a position on a color wheel.
  ///
  /// One full turn is 1.
  static func color(_ place: Double, opacity: Double = 1) -> Color {
    func part(_ shift: Double) -> Double { 0.5 + 0.4 * cos(2 * Double.pi * (place + shift)) }
    return Color(red: part(0), green: part(0.33), blue: part(0.67), opacity: opacity)
  }

  /// Draws the number of a picture, which is the number of the first cell with this picture.
  static func draw(numberOf content: Int, _ context: DrawingContext) {
    let text = HeadwayDrawing.Text("\(content + 1)", font: Font(size: 13, weight: .bold), color: .white)
    context.fill(Path(Rectangle(0, 38, 56, 18)), with: .color(Color(white: 0, opacity: 0.55)))
    context.draw(text, at: Point(5, 38))
  }

  static func drawing(of content: Int) -> DrawingOperation {
    DrawingOperation(width: 56, height: 56, scale: 2) { context in
      let hue = Double(content) / Double(DrawingWorkshop.contentCount)
      let ground = Gradient([color(hue), color(hue + 0.3)])
      context.fill(Path(context.bounds), with: .linearGradient(ground, from: .zero, to: Point(56, 56)))
      for ring in 0..<300 {
        let share = Double(ring) / 300
        let turns = Double(content % 7 + 2)
        let angle: Double = share * turns * 15
        let (x, y) = (27 + 25 * share * cos(angle), 27 + 25 * share * sin(angle))
        let dot = Path(ellipseIn: Rectangle(x, y, 5, 5))
        context.fill(dot, with: .color(color(hue + share, opacity: 0.5)))
      }
      draw(numberOf: content, context)
    }
  }
}

/// The content of every fourth cell: the thumbnail of a much larger JPEG.
enum Photo {
  private static let side = 1_200.0
  // The files, by their position on the color wheel. Protected by its lock.
  private static let files = Mutex<[Int: [UInt8]]>([:])

  static func isShown(by content: Int) -> Bool { content % 4 == 3 }

  static func drawing(of content: Int) -> DrawingOperation {
    DrawingOperation(width: 56, height: 56, scale: 2) { context in
      let thumbnail = try Image(thumbnailOf: file(content % 40), fitting: 112)
      context.draw(thumbnail, in: context.bounds)
      Tile.draw(numberOf: content, context)
    }
  }

  /// Returns a JPEG, which is created once.
  private static func file(_ number: Int) throws -> [UInt8] {
    if let file = files.withLock({ $0[number] }) { return file }
    let photo = try Image(width: side, height: side) { context in
      let hue = Double(number) / 40
      let sky = Gradient([Tile.color(hue), Tile.color(hue + 0.2)])
      context.fill(Path(context.bounds), with: .linearGradient(sky, from: .zero, to: Point(0, side)))
      context.fill(Path(ellipseIn: Rectangle(750, 200, 250, 250)), with: .color(.white))
      for hill in 0..<3 {
        let (left, width) = (Double(hill) * 350 - 200, Double(number % 5) * 60 + 700)
        let ground = Path(ellipseIn: Rectangle(left, 750, width, 900))
        context.fill(ground, with: .color(Tile.color(hue + 0.5 + Double(hill) * 0.05)))
      }
    }
    let file = try photo.jpegBytes()
    files.withLock { $0[number] = file }
    return file
  }
}
#endif
