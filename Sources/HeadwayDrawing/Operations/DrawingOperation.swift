#if Drawing
public import Headway
import Synchronization

/// Draws an image off the main thread and delivers it when it is finished.
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
/// Instead of registering a handler, a task can await ``value``. An operation that depends on this one can read
/// ``image``.
///
/// **Cancellation.** If you cancel an operation that is drawing, all further commands do nothing (see
/// ``DrawingContext``). The operation then has no image and delivers nothing.
///
/// The operation fails with the error that the closure throws, or with a ``DrawingError``.
public final class DrawingOperation: Headway.Operation, ValueOperation, @unchecked Sendable {
  // Sendable, because a lock protects all mutable state.
  private struct State {
    /// The drawing closure, until drawing starts or can no longer start.
    var draw: (@Sendable (DrawingContext) throws -> Void)?
    var image: Image?
    var handlers: [@MainActor @Sendable (Image) -> Void] = []
    /// Whether the operation can no longer have an image.
    var hasNoImage = false
  }

  private let pixelSize: PixelSize
  // No user code is called or released under this lock.
  private let state: Mutex<State>

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - width: The width, in points.
  ///   - height: The height, in points.
  ///   - scale: The number of pixels per point.
  ///   - draw: Draws, once, on a thread of the operation's queue. The context can't be used after the closure returns.
  ///     The closure is released after the operation has ended.
  /// - Precondition: The size in pixels is from 1 to ``Image/maxDrawingDimension`` in each direction.
  public init(
    width: Double, height: Double, scale: Double = 1, draw: @escaping @Sendable (DrawingContext) throws -> Void
  ) {
    pixelSize = PixelSize(width: width, height: height, scale: scale)
    state = Mutex(State(draw: draw))
    super.init()
  }

  /// The finished image.
  ///
  /// Nil until the operation has finished. Always nil if the operation failed or was cancelled.
  public var image: Image? {
    guard case .success? = outcome else { return nil }
    return state.withLock { $0.image }
  }

  /// The finished image, for a task that waits for it.
  ///
  /// Before this property returns, the handlers registered with ``onImage(_:)`` have been called. If there are
  /// handlers, the main queue must be served in the meantime. If the waiting task is cancelled, the wait ends and the
  /// operation continues.
  ///
  /// - Throws: The error of the operation; `CancellationError` if the operation or the waiting task is cancelled.
  public var value: Image {
    get async throws {
      try await untilSucceeded()
      guard let image else { throw CancellationError() }
      return image
    }
  }

  /// Calls `handler` with the finished image, on the main thread.
  ///
  /// The operation has finished when the handler is called. If the operation fails or is cancelled, the handler is
  /// released without a call. Handlers are called in registration order. A handler that you register after the
  /// operation has finished is called, too.
  ///
  /// ``value``, `await untilFinished()`, and the queue's `await untilFinished()` include the call. Blocking waits do
  /// not, because they might block the main thread.
  ///
  /// - Parameter handler: Receives the image on the main thread.
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
  /// - Throws: The error that the closure throws, or a ``DrawingError``.
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
      // A drawing ends early in this way; this is not a failure.
      if isCancelled, error is CancellationError { return }
      throw error
    }
  }

  /// Requests the drawing to end early.
  ///
  /// The current command is completed; commands after it do nothing.
  public override func cancel() {
    super.cancel()
    // If drawing has started, the closure has been removed; otherwise drawing will never start.
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

  /// Calls handlers on the main queue after this operation has finished.
  private func deliver(to handlers: [@MainActor @Sendable (Image) -> Void]) {
    let report = beginReport()
    let delivery = BlockOperation { [self] in
      // The operation might have been cancelled just before it finished.
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
