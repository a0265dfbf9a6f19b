#if Drawing
import CPangoCairo

/// Where a drawing draws: the commands, and the state that they depend on.
///
/// A context belongs to the closure that got it, and to its thread: it is not `Sendable`, and using it after the
/// closure has returned is a programmer's error. Coordinates are points, from the top left corner, y downwards.
///
/// **Cancelling.** Once the operation that draws is cancelled, commands do nothing: what is being drawn at that
/// moment is finished, and nothing after it is begun. They do not throw, so that drawing code needs no `try` at each
/// line; a drawing that computes a lot between commands looks at ``isCancelled``, or calls ``checkCancellation()``.
///
/// **Errors.** A command that can't be carried out does nothing, nor do those after it, and the drawing ends with a
/// ``DrawingError``: one with a number that is infinite or none, with text that is too large, or under a
/// transformation that makes an area a line.
public final class DrawingContext {
  /// The size of the image, in points.
  public let size: Size

  /// How many pixels make a point.
  public let scale: Double

  private let cairo: OpaquePointer
  /// Memory that cairo draws into.
  private let storage: PixelStorage
  private var cancellation: (() -> Bool)?
  /// The first failure that cairo does not know of.
  private var failure: DrawingError?
  private var hasEnded = false
  /// Lays out text; made with the first text.
  private var layoutContext: OpaquePointer?

  init(_ storage: PixelStorage, _ size: PixelSize, isCancelled: (() -> Bool)?) {
    self.size = Size(size.width, size.height)
    scale = size.scale
    cancellation = isCancelled
    self.storage = storage
    let surface = storage.makeSurface()
    cairo = cairo_create(surface)
    cairo_surface_destroy(surface)
    cairo_scale(cairo, scale, scale)
  }

  deinit { end() }

  /// The rectangle of the whole image.
  public var bounds: Rectangle { Rectangle(size: size) }

  // MARK: Cancelling

  /// Whether the operation that draws was cancelled.
  ///
  /// Costs one atomic load. False for ever in a drawing that belongs to no operation.
  public var isCancelled: Bool { cancellation?() ?? false }

  /// Throws if the operation that draws was cancelled.
  ///
  /// - Throws: `CancellationError`.
  public func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  // MARK: Commands

  /// Carries out a command, unless the drawing was cancelled or has failed.
  @inline(__always)
  func perform(_ command: (OpaquePointer) -> Void) {
    precondition(!hasEnded, "A DrawingContext was used after its drawing had ended: draw inside of the closure.")
    guard !isCancelled, failure == nil else { return }
    command(cairo)
  }

  /// Carries out a command with numbers, which have to be finite.
  @inline(__always)
  func perform(ifFinite isFinite: Bool, _ name: StaticString, _ command: (OpaquePointer) -> Void) {
    perform { cairo in
      guard isFinite else { return fail(.invalidGeometry, "\(name): a number is infinite or none") }
      command(cairo)
    }
  }

  /// Asks cairo for something, whether or not the drawing was cancelled.
  func query(_ question: (OpaquePointer) -> Void) {
    precondition(!hasEnded, "A DrawingContext was used after its drawing had ended: draw inside of the closure.")
    question(cairo)
  }

  func fail(_ code: DrawingError.Code, _ context: String) {
    failure = failure ?? DrawingError(code, context: context)
  }

  /// Calls a closure between two calls of cairo that belong together, whatever happens in it.
  func balanced<Result>(
    _ begin: (OpaquePointer) -> Void, _ end: (OpaquePointer) -> Void, _ body: () throws -> Result
  ) rethrows -> Result {
    var hasBegun = false
    perform { cairo in
      begin(cairo)
      hasBegun = true
    }
    defer { if hasBegun, !hasEnded { end(cairo) } }
    return try body()
  }

  /// What lays out text here, and draws as the context does now.
  func textLayouts(_ cairo: OpaquePointer) -> OpaquePointer? {
    if layoutContext == nil, let context = pango_cairo_create_context(cairo) {
      // Widths that depend on neither the scale nor the place, and no coloured edges.
      let options = cairo_font_options_create()
      cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
      cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
      cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
      pango_cairo_context_set_font_options(context, options)
      cairo_font_options_destroy(options)
      layoutContext = context
    }
    if let layoutContext { pango_cairo_update_context(cairo, layoutContext) }
    return layoutContext
  }

  // MARK: The end

  /// Makes sure that all is in memory.
  ///
  /// - Throws: ``DrawingError`` if something could not be drawn.
  func finish() throws(DrawingError) {
    guard !hasEnded else { return }
    if let failure { throw failure }
    let status = cairo_status(cairo)
    guard status == CAIRO_STATUS_SUCCESS else { throw DrawingError(status) }
    cairo_surface_flush(cairo_get_target(cairo))
  }

  /// Releases what belongs to cairo: from now on nobody draws here.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    // It may refer to an operation that is gone by the time that somebody asks.
    cancellation = nil
    if let layoutContext { g_object_unref(UnsafeMutableRawPointer(layoutContext)) }
    cairo_surface_finish(cairo_get_target(cairo))
    cairo_destroy(cairo)
  }
}

@available(*, unavailable)
extension DrawingContext: Sendable {}

extension DrawingError {
  /// What cairo says.
  init(_ status: cairo_status_t) {
    let code: Code =
      switch status {
      case CAIRO_STATUS_NO_MEMORY: .outOfMemory
      case CAIRO_STATUS_INVALID_MATRIX, CAIRO_STATUS_INVALID_DASH, CAIRO_STATUS_INVALID_SIZE: .invalidGeometry
      default: .library
      }
    self.init(code, context: String(cString: cairo_status_to_string(status)))
  }
}

extension PixelStorage {
  /// A surface on these pixels, for one thread, since cairo keeps state in it; it does not keep the pixels alive.
  func makeSurface() -> OpaquePointer? {
    cairo_image_surface_create_for_data(
      bytes.assumingMemoryBound(to: UInt8.self).baseAddress, CAIRO_FORMAT_ARGB32, Int32(clamping: width),
      Int32(clamping: height), Int32(clamping: bytesPerRow))
  }
}
#endif
