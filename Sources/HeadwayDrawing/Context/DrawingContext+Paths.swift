#if Drawing
import CPangoCairo

extension DrawingContext {
  /// Fills the inside of a path.
  ///
  /// - Parameters:
  ///   - path: The path whose inside is filled.
  ///   - paint: The paint that fills it.
  ///   - rule: The rule that determines the inside of a path that crosses itself.
  public func fill(_ path: Path, with paint: Paint, rule: FillRule = .winding) {
    perform(ifFinite: path.isFinite && paint.isFinite, "fill") { cairo in
      withSource(paint, cairo) {
        cairo_set_fill_rule(cairo, rule.cairoRule)
        path.append(to: cairo)
        cairo_fill(cairo)
      }
    }
  }

  /// Fills a rectangle.
  ///
  /// - Parameters:
  ///   - rectangle: The rectangle to fill.
  ///   - paint: The paint that fills it.
  public func fill(_ rectangle: Rectangle, with paint: Paint) { fill(Path(rectangle), with: paint) }

  /// Draws a line along a path.
  ///
  /// - Parameters:
  ///   - path: The path to stroke.
  ///   - paint: The paint of the line.
  ///   - style: The width, ends, joins, and dashes of the line.
  public func stroke(_ path: Path, with paint: Paint, style: StrokeStyle = StrokeStyle()) {
    perform(ifFinite: path.isFinite && style.isFinite && paint.isFinite, "stroke") { cairo in
      withSource(paint, cairo) {
        style.apply(to: cairo)
        path.append(to: cairo)
        cairo_stroke(cairo)
      }
    }
  }

  /// Draws a line along a path.
  ///
  /// - Parameters:
  ///   - path: The path to stroke.
  ///   - paint: The paint of the line.
  ///   - width: The width of the line, in points.
  public func stroke(_ path: Path, with paint: Paint, width: Double) {
    stroke(path, with: paint, style: StrokeStyle(width: width))
  }

  /// Makes pixels transparent.
  ///
  /// - Parameter rectangle: The area to clear.
  public func clear(_ rectangle: Rectangle) {
    withSavedState {
      setBlendMode(.erase)
      fill(rectangle, with: .color(.black))
    }
  }

  /// Limits all further drawing to the inside of a path, in addition to earlier clips.
  ///
  /// Call this method inside ``withSavedState(_:)``, because only that method can undo a clip.
  ///
  /// - Parameters:
  ///   - path: The path that limits further drawing.
  ///   - rule: The rule that determines the inside of a path that crosses itself.
  public func clip(to path: Path, rule: FillRule = .winding) {
    perform(ifFinite: path.isFinite, "clip") { cairo in
      cairo_set_fill_rule(cairo, rule.cairoRule)
      path.append(to: cairo)
      cairo_clip(cairo)
    }
  }
}

extension Path {
  /// Replaces cairo's current path with this path.
  fileprivate func append(to cairo: OpaquePointer) {
    cairo_new_path(cairo)
    for element in elements {
      switch element {
      case .move(let point): cairo_move_to(cairo, point.x, point.y)
      case .line(let point): cairo_line_to(cairo, point.x, point.y)
      case .curve(let first, let second, let end):
        cairo_curve_to(cairo, first.x, first.y, second.x, second.y, end.x, end.y)
      case .arc(let center, let radius, let start, let end, isNegative: false):
        cairo_arc(cairo, center.x, center.y, radius, start, end)
      case .arc(let center, let radius, let start, let end, isNegative: true):
        cairo_arc_negative(cairo, center.x, center.y, radius, start, end)
      case .rectangle(let rectangle):
        cairo_rectangle(
          cairo, rectangle.origin.x, rectangle.origin.y, rectangle.size.width, rectangle.size.height)
      case .newSubpath: cairo_new_sub_path(cairo)
      case .close: cairo_close_path(cairo)
      }
    }
  }
}

extension FillRule {
  fileprivate var cairoRule: cairo_fill_rule_t {
    self == .winding ? CAIRO_FILL_RULE_WINDING : CAIRO_FILL_RULE_EVEN_ODD
  }
}

extension StrokeStyle {
  fileprivate func apply(to cairo: OpaquePointer) {
    cairo_set_line_width(cairo, max(0, width))
    switch cap {
    case .butt: cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT)
    case .round: cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
    case .square: cairo_set_line_cap(cairo, CAIRO_LINE_CAP_SQUARE)
    }
    switch join {
    case .miter: cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER)
    case .round: cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
    case .bevel: cairo_set_line_join(cairo, CAIRO_LINE_JOIN_BEVEL)
    }
    cairo_set_miter_limit(cairo, miterLimit)
    cairo_set_dash(cairo, dashes, Int32(dashes.count), dashPhase)
  }
}
#endif
