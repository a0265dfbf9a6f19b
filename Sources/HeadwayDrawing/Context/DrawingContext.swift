#if Drawing
import CPangoCairo
import Headway

/// The drawing commands, and the state that they depend on.
///
/// A context belongs to the closure that receives it, and to its thread. It is not `Sendable`, and using it after the
/// closure has returned is a programming error. Coordinates are in points from the top left corner, with y pointing
/// down.
///
/// **Cancellation.** After the operation that draws has been cancelled, commands do nothing: the current command is
/// completed, and no other command starts. Commands do not throw, so drawing code does not need a `try` in each line.
/// If your drawing computes a lot between commands, check ``isCancelled`` or call ``checkCancellation()``.
///
/// **Errors.** A command that can't be performed does nothing. The commands after it do nothing either, and the drawing
/// ends with a ``DrawingError``. Examples are an infinite number or NaN, text that is too large, and a transformation
/// that reduces areas to lines.
public final class DrawingContext {
  /// The size of the image, in points.
  public let size: Size

  /// The number of pixels per point.
  public let scale: Double

  private let cairo: OpaquePointer
  /// The memory that cairo draws into.
  private let storage: PixelStorage
  private var cancellation: (() -> Bool)?
  /// The first failure that cairo does not record.
  private var failure: DrawingError?
  private var hasEnded = false
  /// Lays out text; created when text is first drawn.
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

  /// Whether the operation that draws has been cancelled.
  ///
  /// Reading this property costs one atomic load. In a drawing without an operation, it is always false.
  public var isCancelled: Bool { cancellation?() ?? false }

  /// Throws if the operation that draws has been cancelled.
  ///
  /// - Throws: `CancellationError`.
  public func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  // MARK: Commands

  /// Performs a command, unless the drawing was cancelled or has failed.
  @inline(__always)
  func perform(_ command: (OpaquePointer) -> Void) {
    require(!hasEnded, "A DrawingContext was used after its drawing had ended: draw inside of the closure.")
    guard !isCancelled, failure == nil else { return }
    command(cairo)
  }

  /// Performs a command whose numbers must be finite.
  @inline(__always)
  func perform(ifFinite isFinite: Bool, _ name: StaticString, _ command: (OpaquePointer) -> Void) {
    perform { cairo in
      guard isFinite else { return fail(.invalidGeometry, "\(name): a number is infinite or none") }
      command(cairo)
    }
  }

  /// Queries cairo, whether or not the drawing was cancelled.
  func query(_ question: (OpaquePointer) -> Void) {
    require(!hasEnded, "A DrawingContext was used after its drawing had ended: draw inside of the closure.")
    question(cairo)
  }

  func fail(_ code: DrawingError.Code, _ detail: String) {
    failure = failure ?? DrawingError(code, detail: detail)
  }

  /// Calls a closure between two paired cairo calls, and ensures that the second call always happens.
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

  /// Returns the Pango context, updated to the current state of the drawing.
  func textLayouts(_ cairo: OpaquePointer) -> OpaquePointer? {
    if layoutContext == nil, let context = pango_cairo_create_context(cairo) {
      // Widths that depend on neither the scale nor the position, and no colored edges.
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

  // MARK: Finishing

  /// Ensures that all pixels are in memory.
  ///
  /// - Throws: ``DrawingError`` if something could not be drawn.
  func finish() throws(DrawingError) {
    guard !hasEnded else { return }
    if let failure { throw failure }
    let status = cairo_status(cairo)
    guard status == CAIRO_STATUS_SUCCESS else { throw DrawingError(status) }
    cairo_surface_flush(cairo_get_target(cairo))
  }

  /// Releases the cairo objects; the context can't be used afterward.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    // The closure might refer to an operation that no longer exists when it is called.
    cancellation = nil
    if let layoutContext { g_object_unref(UnsafeMutableRawPointer(layoutContext)) }
    cairo_surface_finish(cairo_get_target(cairo))
    cairo_destroy(cairo)
  }
}

@available(*, unavailable)
extension DrawingContext: Sendable {}

extension DrawingError {
  /// Creates an error from a cairo status.
  init(_ status: cairo_status_t) {
    let code: Code =
      switch status {
      case CAIRO_STATUS_NO_MEMORY: .outOfMemory
      case CAIRO_STATUS_INVALID_MATRIX, CAIRO_STATUS_INVALID_DASH, CAIRO_STATUS_INVALID_SIZE: .invalidGeometry
      default: .library
      }
    self.init(code, detail: String(cString: cairo_status_to_string(status)))
  }
}

extension PixelStorage {
  /// Creates a surface on these pixels, for one thread, because cairo keeps state in it.
  ///
  /// It does not retain the pixels.
  func makeSurface() -> OpaquePointer? {
    cairo_image_surface_create_for_data(
      bytes.assumingMemoryBound(to: UInt8.self).baseAddress, CAIRO_FORMAT_ARGB32, Int32(clamping: width),
      Int32(clamping: height), Int32(clamping: bytesPerRow))
  }
}
#endif
