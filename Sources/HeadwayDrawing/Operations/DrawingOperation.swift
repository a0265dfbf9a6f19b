#if Drawing
public import Headway
import Synchronization

/// Draws an image off the main thread, and hands it over when it is finished.
///
/// ```swift
/// import HeadwayDrawing
///
/// let drawing = DrawingOperation(width: 64, height: 64, scale: 2) { context in
///   context.fill(Path(ellipseIn: context.bounds), with: .color(.red))
/// }
/// drawing.onImage { image in print("on the main thread:", image) }
/// queue.addOperation(drawing)
/// ```
///
/// A task awaits ``value`` in place of that; an operation that depends on this one reads ``image``.
///
/// **Cancelling** an operation that draws has all further commands do nothing, see ``DrawingContext``; there is no
/// image then, and nothing is handed over.
///
/// The operation fails with what the closure throws, or with a ``DrawingError``.
public final class DrawingOperation: Headway.Operation, @unchecked Sendable {
  // Sendable, since what changes is in a lock.
  private struct State {
    /// What draws, until it is begun or never will be.
    var draw: (@Sendable (DrawingContext) throws -> Void)?
    var image: Image?
    var handlers: [@MainActor @Sendable (Image) -> Void] = []
    /// Whether there never will be an image.
    var hasNoImage = false
  }

  private let pixelSize: PixelSize
  // Nothing of the user's is called or released under it.
  private let state: Mutex<State>

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - width: The width, in points.
  ///   - height: The height, in points.
  ///   - scale: How many pixels make a point.
  ///   - draw: Draws, once, on a thread of the operation's queue. It is released after the operation has ended. The
  ///     context can't be used after it has returned.
  /// - Precondition: The size in pixels is from 1 to ``Image/maximumDrawingDimension`` in each direction.
  public init(
    width: Double, height: Double, scale: Double = 1, draw: @escaping @Sendable (DrawingContext) throws -> Void
  ) {
    pixelSize = PixelSize(width: width, height: height, scale: scale)
    state = Mutex(State(draw: draw))
    super.init()
  }

  /// The finished image.
  ///
  /// Nil until the operation has finished, and for ever if it failed or was cancelled.
  public var image: Image? {
    guard case .success? = outcome else { return nil }
    return state.withLock { $0.image }
  }

  /// The finished image, for a task that waits for it.
  ///
  /// When it returns, the handlers given to ``onImage(_:)`` have been called: with handlers, the main queue must be
  /// served meanwhile. When that task is cancelled the wait ends, and the operation goes on.
  ///
  /// - Throws: What made the operation fail; `CancellationError` when it was cancelled, or the task that waits is.
  public var value: Image {
    get async throws {
      try await finishedSuccessfully()
      guard let image else { throw CancellationError() }
      return image
    }
  }

  /// Calls `handler` with the finished image, on the main thread.
  ///
  /// The operation has finished then. If it fails or is cancelled, the handler is released without a call. Several
  /// handlers are called in the order in which they were registered; one that is registered after the end is called
  /// as well.
  ///
  /// ``value``, `await finished()` and the `await finished()` of the queue include the call. Blocking waits do not,
  /// since they may block the main thread.
  ///
  /// - Parameter handler: What to call.
  public func onImage(_ handler: @escaping @MainActor @Sendable (Image) -> Void) {
    let isDrawn = state.withLock { state in
      guard state.image == nil else { return true }
      if !state.hasNoImage { state.handlers.append(handler) }
      return false
    }
    if isDrawn { deliver(to: [handler]) }
  }

  /// Draws.
  ///
  /// - Throws: What the closure throws, or a ``DrawingError``.
  public override func main() throws {
    guard let draw = takeDrawing() else { return }
    keepUntilEnd(draw)
    do {
      let image = try Image(pixelSize, isCancelled: { [unowned self] in isCancelled }, draw: draw)
      guard !isCancelled else { return dropHandlers() }
      let handlers = state.withLock { state in
        state.image = image
        defer { state.handlers = [] }
        return state.handlers
      }
      if !handlers.isEmpty { deliver(to: handlers) }
    } catch {
      dropHandlers()
      // That is how a drawing leaves early; it is no failure.
      if isCancelled, error is CancellationError { return }
      throw error
    }
  }

  /// Asks the drawing to end early.
  ///
  /// The command that is being carried out is finished; commands after it do nothing.
  public override func cancel() {
    super.cancel()
    // If it has begun, it has been taken; else it never will.
    if isCancelled, takeDrawing() != nil { dropHandlers() }
  }

  private func takeDrawing() -> (@Sendable (DrawingContext) throws -> Void)? {
    state.withLock { state in
      defer { state.draw = nil }
      return state.draw
    }
  }

  private func dropHandlers() {
    let handlers = state.withLock { state in
      state.hasNoImage = true
      defer { state.handlers = [] }
      return state.handlers
    }
    withExtendedLifetime(handlers) {}
  }

  /// Has the main queue call handlers once this operation has finished.
  private func deliver(to handlers: [@MainActor @Sendable (Image) -> Void]) {
    let report = beginReport()
    let delivery = BlockOperation { [self] in
      // It may have been cancelled at the very end.
      guard let image else { return }
      report.run { MainActor.assumeIsolated { for handler in handlers { handler(image) } } }
    }
    // Also called if the delivery is cancelled.
    delivery.completionBlock = { report.end() }
    delivery.addDependency(self)
    OperationQueue.main.addOperation(delivery)
  }
}
#endif
