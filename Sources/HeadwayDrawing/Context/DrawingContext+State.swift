#if Drawing
import CPangoCairo

extension DrawingContext {
  // MARK: State

  /// Calls a closure and then restores the transformation, the clip, and the blend mode.
  ///
  /// - Parameter body: The closure that draws.
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws.
  public func withSavedState<Result>(_ body: () throws -> Result) rethrows -> Result {
    try balanced(cairo_save, cairo_restore, body)
  }

  /// Draws the output of a closure as a whole, as if it were a single image.
  ///
  /// - Parameters:
  ///   - opacity: The opacity of the whole, from 0 to 1.
  ///   - body: The closure that draws.
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws. Its output up to that point is drawn.
  public func withLayer<Result>(opacity: Double = 1, _ body: () throws -> Result) rethrows -> Result {
    perform(ifFinite: !opacity.isNaN, "withLayer") { _ in }
    return try balanced(
      cairo_push_group,
      { cairo in
        cairo_pop_group_to_source(cairo)
        if !isCancelled { cairo_paint_with_alpha(cairo, opacity) }
        cairo_set_source_rgba(cairo, 0, 0, 0, 1)
      }, body)
  }

  /// Sets how further drawing is combined with the existing pixels.
  ///
  /// - Parameter mode: The mode; initially ``BlendMode/normal``.
  public func setBlendMode(_ mode: BlendMode) { perform { cairo in cairo_set_operator(cairo, mode.cairoOperator) } }

  // MARK: Transformations

  /// Moves the origin for all further drawing.
  ///
  /// - Parameters:
  ///   - x: The distance to the right, in points.
  ///   - y: The distance downward, in points.
  public func translate(x: Double, y: Double) {
    perform(ifFinite: (x + y).isFinite, "translate") { cairo in cairo_translate(cairo, x, y) }
  }

  /// Scales all further drawing.
  ///
  /// - Parameters:
  ///   - x: The horizontal factor, not 0.
  ///   - y: The vertical factor, not 0.
  public func scale(x: Double, y: Double) {
    perform(ifFinite: (x + y).isFinite, "scale") { cairo in cairo_scale(cairo, x, y) }
  }

  /// Rotates all further drawing about the origin.
  ///
  /// - Parameter radians: The angle, in radians. Positive angles turn clockwise.
  public func rotate(byRadians radians: Double) {
    perform(ifFinite: radians.isFinite, "rotate") { cairo in cairo_rotate(cairo, radians) }
  }

  /// Applies a transformation to all further drawing, before the existing transformations.
  ///
  /// - Parameter transform: The transformation to apply before the current one.
  public func concatenate(_ transform: Transform) {
    perform(ifFinite: transform.isFinite, "concatenate") { cairo in
      var matrix = cairo_matrix_t(
        xx: transform.a, yx: transform.b, xy: transform.c, yy: transform.d, x0: transform.x0, y0: transform.y0)
      cairo_transform(cairo, &matrix)
    }
  }
}

extension BlendMode {
  fileprivate var cairoOperator: cairo_operator_t {
    switch kind {
    case .normal: CAIRO_OPERATOR_OVER
    case .copy: CAIRO_OPERATOR_SOURCE
    case .erase: CAIRO_OPERATOR_DEST_OUT
    case .atop: CAIRO_OPERATOR_ATOP
    case .multiply: CAIRO_OPERATOR_MULTIPLY
    case .screen: CAIRO_OPERATOR_SCREEN
    case .overlay: CAIRO_OPERATOR_OVERLAY
    case .darken: CAIRO_OPERATOR_DARKEN
    case .lighten: CAIRO_OPERATOR_LIGHTEN
    case .difference: CAIRO_OPERATOR_DIFFERENCE
    case .add: CAIRO_OPERATOR_ADD
    }
  }
}
#endif
